import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { type Browser, chromium, type Page } from "playwright-core"
import type { Rect } from "../../src/node.ts"
import { decodePng, type Pixels } from "../../src/picture/png.ts"
import { viewersDirectory } from "../../src/viewers.ts"
import { type Fixture, startFixture } from "../fixtures/fixture.ts"
import { openDesktop, runProgram, type TestDesktop } from "../support/desktop.ts"
import { startServer } from "../support/mcp-server.ts"
import { until } from "../support/until.ts"
import { film, startView, type View } from "../support/view.ts"

const executablePath = Bun.which("chromium") ?? undefined

let desktop: TestDesktop
let fixture: Fixture
let browser: Browser
let view: View
let page: Page
/** The secure field of the fixture, and the one for names. */
let secure: Rect
let field: Rect
const complaints: string[] = []

beforeAll(async () => {
  if (!executablePath) return
  desktop = await openDesktop()
  ;[fixture, browser] = await Promise.all([
    startFixture(desktop, "gtk3"),
    chromium.launch({ executablePath, args: ["--no-sandbox"] }),
  ])
  view = await startView(desktop, "test")
  page = await openPage(view.url)
  secure = await boundsOf('textfield "Secret"', "gtk3.py")
  field = await boundsOf('textfield "Name"', "gtk3.py")
})

afterAll(async () => {
  await browser?.close()
  await view?.end()
  await desktop?.close()
})

async function openPage(url: string): Promise<Page> {
  const opened = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  opened.on("pageerror", (error) => complaints.push(error.message))
  // The tests read the picture often, which Chromium remarks.
  opened.on("console", (message) => /^Canvas2D/.test(message.text()) || complaints.push(message.text()))
  await opened.goto(url)
  await opened.locator("canvas[data-drawn]").waitFor()
  return opened
}

/** The picture that a page shows, in the desktop's own pixels. */
async function shownBy(one: Page): Promise<Pixels> {
  const png: string = await one.evaluate("document.getElementById('picture').toDataURL('image/png')")
  return decodePng(Buffer.from(png.slice(png.indexOf(",") + 1), "base64"))
}

/** The pixels of the field "Name", as text. */
const partOf = (one: Page): Promise<string> => {
  const { x, y, width, height } = field
  return one.evaluate(
    `document.getElementById("picture").getContext("2d").getImageData(${[x, y, width, height]}).data.join()`,
  )
}

async function screen(): Promise<Pixels> {
  const { json } = await desktop.run("screenshot")
  return decodePng(Buffer.from(json.data.base64, "base64"))
}

const pixel = ({ width, bgrx }: Pixels, x: number, y: number): string => {
  const at = (Math.round(y) * width + Math.round(x)) * 4
  return [...bgrx.subarray(at, at + 3)].reverse().join(",")
}

/** True if two pictures are equal outside of the secure field of the fixture, which is covered. */
function isSame(a: Pixels, b: Pixels): boolean {
  const [one, other] = [a, b].map((picture) => {
    const bgrx = new Uint8Array(picture.bgrx)
    for (let y = secure.y - 3; y < secure.y + secure.height + 3; y++)
      bgrx.fill(
        0,
        (y * picture.width + secure.x - 3) * 4,
        (y * picture.width + secure.x + secure.width + 3) * 4,
      )
    return bgrx
  })
  return a.width === b.width && Buffer.compare(one!, other!) === 0
}

async function boundsOf(target: string, app: string): Promise<Rect> {
  const { json } = await desktop.run("get", target, "bounds", "--app", app)
  return json.data.value
}

const pressed = async (name: string): Promise<number> =>
  (await fixture.events()).filter((one) => one.event === "press" && one.name === name).length

describe.skipIf(!executablePath)("the page of desktop-view", () => {
  test("shows the desktop pixel by pixel, and a change within a second", async () => {
    await until(async () => isSame(await shownBy(page), await screen()))
    expect(await page.locator("#name").textContent()).toBe("test")
    // A busy machine may delay one of several changes.
    const delays: number[] = []
    for (let round = 0; round < 5 && !delays.some((ms) => ms < 1000); round++) {
      const before = await partOf(page)
      await desktop.run("set-value", 'textfield "Name"', `round ${round}`, "--app", "gtk3.py")
      const start = performance.now()
      await until(async () => before !== (await partOf(page)))
      delays.push(performance.now() - start)
    }
    expect(Math.min(...delays)).toBeLessThan(1000)
    await until(async () => isSame(await shownBy(page), await screen()))
  })

  test("sends nothing while nothing changes", async () => {
    // The caret of the field blinks, and stops when the focus is on a button.
    await desktop.run("focus", 'button "Press me"', "--app", "gtk3.py")
    const drawn = async (): Promise<string | null> => page.locator("canvas").getAttribute("data-drawn")
    const quiet = async (): Promise<boolean> => {
      const before = await drawn()
      await Bun.sleep(700)
      return before === (await drawn())
    }
    await until(quiet)
  })

  test("marks an element at its position, from the outline and from the picture", async () => {
    const box = await boundsOf('button "Press me"', "gtk3.py")
    const line = page.locator("#lines li", { hasText: 'button "Press me" [' })
    await line.hover()
    const [mark, canvas] = await Promise.all([
      page.locator("#mark").boundingBox(),
      page.locator("#picture").boundingBox(),
    ])
    const size = await page.evaluate<number>("document.getElementById('picture').width")
    const scale = canvas!.width / size
    const near = (a: number, b: number): void => expect(Math.abs(a - b)).toBeLessThan(2)
    near(mark!.x, canvas!.x + box.x * scale)
    near(mark!.y, canvas!.y + box.y * scale)
    near(mark!.width, box.width * scale)
    near(mark!.height, box.height * scale)
    // By pixel: the frame of the mark is on the edge of the button, and not a few pixels beside it.
    const shot = decodePng(await page.screenshot())
    const [left, middle] = [canvas!.x + box.x * scale, canvas!.y + (box.y + box.height / 2) * scale]
    expect(pixel(shot, left + 0.5, middle)).toBe("255,61,127")
    expect(pixel(shot, left - 4, middle)).not.toBe("255,61,127")
    // The other way round.
    await page.mouse.move(5, 5)
    await page.mouse.move(
      canvas!.x + (box.x + box.width / 2) * scale,
      canvas!.y + (box.y + box.height / 2) * scale,
    )
    expect(await page.locator("#lines li[aria-selected=true]").textContent()).toContain(
      'button "Press me" [@e',
    )
    await page.mouse.move(5, 5)
    // By the keyboard.
    await page.locator("#lines").focus()
    await page.keyboard.press("End")
    expect(await page.locator("#lines li[aria-selected=true]").count()).toBe(1)
    await page.locator("#pause").focus()
    expect(await page.locator("#mark").isVisible()).toBe(false)
  })

  test("lists commands as they happen, with method, disposition and time, and without texts", async () => {
    await desktop.run("type", 'textfield "Name"', "Fjord-bank", "--app", "gtk3.py")
    const row = page.locator("#commands li.done", { hasText: "type" }).first()
    await row.waitFor()
    expect(await row.textContent()).toMatch(
      /textfield "Name".*\(10 characters\).*delivered verified.*ok.*\d m?s/s,
    )
    await desktop.run("click", "@e999")
    const failed = page.locator("#commands li.failed").first()
    await failed.waitFor()
    expect(await failed.textContent()).toContain("STALE_REF")
    expect(await page.locator("#commands").textContent()).not.toContain("Fjord")
  })

  test("does not list the looks of a recorder", async () => {
    const flow = `${desktop.directory}/seen.flow`
    const check = ["check", 'checkbox "Agree"', "--app", "gtk3.py"]
    await runProgram(check, { ...desktop.env, AGENT_DESKTOP_RECORD: flow })
    expect(readFileSync(flow, "utf8")).toContain(`expect 'checkbox "Agree"' checked`)
    await page.locator("#commands li.done code", { hasText: "check" }).first().waitFor()
    expect(await page.locator("#commands code", { hasText: /^is$/ }).count()).toBe(0)
  })

  test("holds a click back until the person resumes", async () => {
    const before = await pressed("Press me")
    await page.locator("#pause").click()
    await page.locator("html.paused").waitFor()
    const click = desktop.run("click", 'button "Press me"', "--app", "gtk3.py", "--timeout-ms", "60000")
    await page.locator("#commands li.held").waitFor()
    expect(await page.locator("#state").textContent()).toContain("1 command waits")
    expect((await desktop.run("find", "--app", "gtk3.py", "--role", "button", "--count")).json.ok).toBe(true)
    const denied = await desktop.run("click", 'button "Press me"', "--app", "gtk3.py", "--timeout-ms", "300")
    expect(denied.json.error).toMatchObject({
      code: "POLICY_DENIED",
      message: expect.stringContaining("paused by a person"),
      details: { reason: "paused by a person" },
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
    expect(await pressed("Press me")).toBe(before)
    await page.locator("#pause").click()
    expect((await click).json.ok).toBe(true)
    expect(await pressed("Press me")).toBe(before + 1)
  })

  test("holds a tool of an MCP server back, with the same reason", async () => {
    const before = await pressed("Press me")
    await page.locator("#pause").click()
    await page.locator("html.paused").waitFor()
    await using server = await startServer(desktop.env)
    const answer = await server.call("desktop_click", {
      ref_id: 'button "Press me"',
      app: "gtk3.py",
      timeout_ms: 500,
    })
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("paused by a person") }],
    })
    expect(await pressed("Press me")).toBe(before)
    await page.locator("#pause").click()
    await page.locator("html:not(.paused)").waitFor()
  })

  test("a pause outlives its page, and ends with the process of the view", async () => {
    const second = await startView(desktop)
    const first = await openPage(second.url)
    await first.locator("#pause").click()
    await first.locator("html.paused").waitFor()
    await first.close()
    const click = ["click", 'button "Press me"', "--app", "gtk3.py", "--timeout-ms"]
    const before = await pressed("Press me")
    expect((await desktop.run(...click, "300")).json.error.code).toBe("POLICY_DENIED")
    const next = await openPage(second.url)
    await next.locator("html.paused").waitFor()
    const waiting = desktop.run(...click, "60000")
    await next.locator("#commands li.held").waitFor()
    process.kill(second.pid, "SIGKILL")
    expect((await waiting).json.ok).toBe(true)
    expect(await pressed("Press me")).toBe(before + 1)
    await next.locator("#state", { hasText: "has ended and agents may act" }).waitFor()
    expect(await next.locator("#commands li.held").count()).toBe(0)
    expect(await next.locator("#commands").textContent()).not.toContain("waits for you")
    await next.close()
  })

  test.skipIf(process.geteuid?.() !== 0)("another user of the machine gets nothing", async () => {
    const { port, pathname } = new URL(view.url)
    const [socket] = readdirSync(viewersDirectory()).filter((name) => name.startsWith(`${view.pid}-`))
    const script = `
import json, os, socket, urllib.request, urllib.error
os.setgroups([]); os.setgid(65534); os.setuid(65534)
def tried(work):
    try: return str(work())
    except Exception as error: return type(error).__name__ + " " + str(getattr(error, "code", ""))
def connect(): socket.socket(socket.AF_UNIX).connect("${viewersDirectory()}/${socket}"); return "connected"
print(json.dumps([
    tried(lambda: urllib.request.urlopen("http://127.0.0.1:${port}/").read()),
    tried(lambda: os.listdir("${viewersDirectory()}")),
    tried(connect),
    tried(lambda: open("/proc/${view.pid}/environ").read()),
    tried(lambda: open("/proc/${view.pid}/cmdline").read()),
]))`
    const { stdout } = Bun.spawnSync(["/usr/bin/python3", "-c", script])
    const [page, list, connected, env, words] = JSON.parse(stdout.toString())
    expect([page, list, connected, env]).toEqual([
      "HTTPError 404",
      "PermissionError ",
      "PermissionError ",
      "PermissionError ",
    ])
    expect(words).not.toContain(pathname.replaceAll("/", ""))
  })

  test("stops a batch between two of its items", async () => {
    const before = await pressed("Press me")
    const press = { ref_id: 'button "Press me"', app: "gtk3.py" }
    const items = [
      { command: "click", args: { ...press, timeout_ms: 30_000 } },
      { command: "wait", args: { text: "there now", app: "gtk3.py", timeout_ms: 60_000 } },
      { command: "click", args: { ...press, timeout_ms: 400 } },
    ]
    const batch = desktop.run("batch", JSON.stringify(items), "--timeout-ms", "60000")
    await until(async () => (await pressed("Press me")) === before + 1)
    await page.locator("#pause").click()
    await page.locator("html.paused").waitFor()
    await fixture.command({ do: "set", name: "Notes", value: "there now" })
    const { results } = (await batch).json.data
    expect(results[2].error.code).toBe("POLICY_DENIED")
    expect(await pressed("Press me")).toBe(before + 1)
    await page.locator("#pause").click()
    await page.locator("html:not(.paused)").waitFor()
  })

  test("gives nothing to a client without the token, with another host or from another origin", async () => {
    const { origin, host, port, pathname } = new URL(view.url)
    expect(pathname.length).toBeGreaterThan(40)
    const statusOf = async (
      path: string,
      headers: Record<string, string> = {},
    ): Promise<readonly [number, string]> => {
      const response = await fetch(`${origin}${path}`, { headers })
      return [response.status, await response.text()]
    }
    const refused = [404, ""] as const
    expect((await statusOf(pathname))[0]).toBe(200)
    for (const path of ["/", "/live", `${pathname.slice(0, -2)}x/`, pathname.slice(0, -1), `${pathname}x`])
      expect(await statusOf(path)).toEqual(refused)
    for (const headers of [
      { host: `evil.example:${port}` } as Record<string, string>,
      { host: "127.0.0.1" },
      { origin: "http://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
    ])
      expect(await statusOf(pathname, headers)).toEqual(refused)
    const upgrade = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    for (const headers of [
      {} as Record<string, string>,
      { origin: "http://evil.example" },
      { origin: `http://localhost:1` },
    ])
      expect(await statusOf(`${pathname}live`, { ...upgrade, ...headers })).toEqual(refused)
    expect(host).toBe(`127.0.0.1:${port}`)
    // A page of another origin that knows the address, even with the token.
    await using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("<p>other", { headers: { "content-type": "text/html" } }),
    })
    const foreign = await browser.newPage()
    await foreign.goto(`http://localhost:${other.port}/`)
    const got = await foreign.evaluate<readonly string[]>(`(async (url) => {
      const asked = await fetch(url).then(() => "read", () => "failed")
      const live = await new Promise((done) => {
        const socket = new WebSocket(url.replace("http", "ws") + "live")
        socket.onopen = () => done("open")
        socket.onerror = () => done("failed")
      })
      const frame = document.createElement("iframe")
      frame.src = url
      const framed = await new Promise((done) => {
        frame.onload = () => { try { done(frame.contentDocument ? "read" : "failed") } catch { done("failed") } }
        document.body.append(frame)
      })
      return [asked, live, framed]
    })(${JSON.stringify(view.url)})`)
    expect(got).toEqual(["failed", "failed", "failed"])
    await foreign.close()
  })

  test("covers the window of an app that hangs, and still shows the others", async () => {
    const script = new URL("../fixtures/many.py", import.meta.url).pathname
    const app = desktop.spawnApp(["/usr/bin/python3", script, "Hanging", "20"])
    const { window } = (await desktop.run("wait", "--window", "Hanging")).json.data
    const before = await pressed("Press me")
    await desktop.run("move-window", window.id, "900", "600")
    process.kill(app.pid, "SIGSTOP")
    const second = await startView(desktop)
    await using viewer = await film(second.url)
    // The next two changes are seen although each look at the hanging app takes long.
    for (const name of ["first", "second"]) {
      const old = colours(await screen(), field).join()
      await desktop.run("set-value", 'textfield "Name"', name, "--app", "gtk3.py")
      await desktop.run("focus", 'button "Press me"', "--app", "gtk3.py")
      // The app draws the field a moment after it has answered.
      await until(async () => {
        const drawn = colours(await screen(), field).join()
        return drawn !== old && colours(viewer.last(), field).join() === drawn
      }, 40_000)
    }
    expect(COVER.has(pixel(viewer.last(), 920, 630))).toBe(true)
    process.kill(app.pid, "SIGCONT")
    app.kill("SIGKILL")
    await app.exited
    await second.end()
    expect(await pressed("Press me")).toBe(before)
  })

  test("the socket of a killed viewer of another desktop is removed by the next command", async () => {
    const path = (pid: number) => `${viewersDirectory()}/${pid}-killed.elsewhere.sock`
    const script = `Bun.listen({ unix: "${path(0)}".replace("/0-", "/" + process.pid + "-"), socket: { data() {} } })`
    const listener = Bun.spawn([process.execPath, "-e", script])
    await until(() => existsSync(path(listener.pid)))
    await desktop.run("list-windows")
    expect(existsSync(path(listener.pid))).toBe(true)
    listener.kill("SIGKILL")
    await listener.exited
    await desktop.run("list-windows")
    expect(existsSync(path(listener.pid))).toBe(false)
  })

  test("ten viewers at once all get the picture", async () => {
    const [pages, films] = await Promise.all([
      Promise.all([openPage(view.url), openPage(view.url)]),
      Promise.all(Array.from({ length: 7 }, () => film(view.url))),
    ])
    const before = films.map((one) => one.frames())
    await desktop.run("set-value", 'textfield "Name"', "for all ten", "--app", "gtk3.py")
    await desktop.run("focus", 'button "Press me"', "--app", "gtk3.py")
    await until(async () => isSame(await shownBy(page), await screen()))
    for (const one of pages) await until(async () => (await partOf(one)) === (await partOf(page)))
    for (const [i, one] of films.entries()) {
      await until(async () => colours(one.last(), field).join() === colours(await screen(), field).join())
      expect(one.frames()).toBeGreaterThan(before[i]!)
    }
    await Promise.all([...pages.map((one) => one.close()), ...films.map((one) => one[Symbol.asyncDispose]())])
  })

  test("loads nothing from elsewhere, and the browser reports no error", async () => {
    // Chromium complains about the requests of the foreign page, which is not ours.
    expect(complaints).toEqual([])
  })

  test("works with --read-only, is paused by a second view, and is refused with a list of apps", async () => {
    const denied = await runProgram(["desktop-view"], { ...desktop.env, AGENT_DESKTOP_APPS: "gtk3.py" })
    expect(denied.json.error.code).toBe("POLICY_DENIED")
    const unknown = await runProgram(["desktop-view", "nowhere"], desktop.env)
    expect(unknown.json).toMatchObject({ ok: false, command: "desktop-view" })
    const second = await startView(desktop, "--read-only")
    const other = await openPage(second.url)
    expect(await other.locator("#name").textContent()).toBe("Your own desktop")
    expect(await other.locator("#about").textContent()).toContain("everything on your screen")
    // A pause in either of them counts.
    await other.locator("#pause").click()
    await other.locator("html.paused").waitFor()
    const click = await desktop.run("click", 'button "Press me"', "--app", "gtk3.py", "--timeout-ms", "0")
    expect(click.json.error.code).toBe("POLICY_DENIED")
    await other.close()
    expect(await second.end()).toBe(143)
    const after = await desktop.run("click", 'button "Press me"', "--app", "gtk3.py")
    expect(after.json.ok).toBe(true)
  })

  test("a viewer that hangs stops the agents of its desktop, and those of no other one", async () => {
    await using elsewhere = await openDesktop()
    const hung = await startView(elsewhere)
    process.kill(hung.pid, "SIGSTOP")
    const click = ["click", 'button "Press me"', "--app", "gtk3.py"]
    const before = await pressed("Press me")
    expect((await desktop.run(...click)).json.ok).toBe(true)
    expect(await pressed("Press me")).toBe(before + 1)
    const denied = await elsewhere.run("clipboard-set", "text", "--timeout-ms", "500")
    expect(denied.json.error).toMatchObject({
      code: "POLICY_DENIED",
      details: { reason: "a viewer does not answer" },
      disposition: { delivery: "not_delivered" },
    })
    process.kill(hung.pid, "SIGCONT")
    expect((await elsewhere.run("clipboard-set", "text", "--timeout-ms", "60000")).json.ok).toBe(true)
    await hung.end()
  })

  test("ends with the desktop, and leaves no process, socket or port", async () => {
    const { port } = new URL(view.url)
    await desktop.run("desktop-stop", "test")
    expect(await view.exited).toBe(0)
    await page.locator("#state", { hasText: "has ended" }).waitFor()
    const left = existsSync(viewersDirectory()) ? readdirSync(viewersDirectory()) : []
    expect(left.filter((name) => name.startsWith(`${view.pid}-`))).toEqual([])
    expect(existsSync(`/proc/${view.pid}`)).toBe(false)
    expect(await fetch(`http://127.0.0.1:${port}/`).catch(() => "refused")).toBe("refused")
  })
})

/** The two colours of a cover's stripes. */
const COVER: ReadonlySet<string> = new Set(["74,81,92", "84,92,104"])

function colours(picture: Pixels, { x, y, width, height }: Rect): string[] {
  return Array.from({ length: width * height }, (_, i) =>
    pixel(picture, Math.floor(x) + (i % width), Math.floor(y) + Math.floor(i / width)),
  )
}
