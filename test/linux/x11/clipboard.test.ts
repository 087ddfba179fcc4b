import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { clearClipboard, getClipboard, getOwner, setClipboard } from "../../../src/linux/x11/clipboard.ts"
import { X11 } from "../../../src/linux/x11/connection.ts"
import { readWindow } from "../../../src/linux/x11/windows.ts"
import { until } from "../../support/until.ts"
import { patience, startXvfb, type Xvfb } from "./xvfb.ts"

const OWNER = [process.execPath, new URL("clipboard-owner.ts", import.meta.url).pathname]

const set = (desk: Xvfb, text: string, deadline = patience()) =>
  setClipboard(desk.x, text, desk.env, deadline, OWNER)
const get = (desk: Xvfb) => getClipboard(desk.x, patience())
async function xclipBytes(desk: Xvfb, ...args: string[]): Promise<Uint8Array> {
  const command = ["xclip", "-selection", "clipboard", "-o", ...args]
  const child = Bun.spawn(command, { env: desk.env, stdout: "pipe", stderr: "ignore" })
  const bytes = await child.stdout.bytes()
  if ((await child.exited) !== 0) throw new Error("xclip got nothing")
  return bytes
}

// A byte order mark is part of the text in this test.
const xclipOut = async (desk: Xvfb, ...args: string[]) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(await xclipBytes(desk, ...args))

/** Puts text on the clipboard with xclip and returns the process, which stays its owner. */
async function xclipIn(desk: Xvfb, text: string, ...args: string[]) {
  const path = `${desk.dir}/xclip-${Math.random()}`
  await Bun.write(path, text)
  const before = await ownerPid(desk)
  // Runs in the foreground, so that the process that we started is the owner.
  const child = desk.spawn(["xclip", "-quiet", "-selection", "clipboard", "-i", ...args, path])
  await until(async () => {
    const pid = await ownerPid(desk)
    return pid !== undefined && pid !== before && pid === child.pid
  })
  return child
}

async function ownerPid(desk: Xvfb): Promise<number | undefined> {
  await desk.x.intern(["CLIPBOARD"], patience())
  const window = await getOwner(desk.x, patience())
  return window === 0 ? undefined : (await readWindow(desk.x, window, patience()))?.pid
}

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const TEXTS = {
  empty: "",
  ascii: "hello",
  latin: "Grüße, café £5",
  unicode: "日本語 ✓ 😀 e\u0301 ру́сский",
  lines: "one\ntwo\r\nthree\n\n\ttab\u0000nul",
  bom: "\ufeffstart",
  large: "ünïcode 0123456789 ".repeat(60_000),
}

describe("the clipboard", () => {
  let desk: Xvfb

  beforeAll(async () => {
    desk = await startXvfb()
  })

  afterAll(() => desk[Symbol.asyncDispose]())

  test("is empty without an owner", async () => {
    await clearClipboard(desk.x, patience())
    expect(await get(desk)).toBe("")
  })

  test.each(Object.entries(TEXTS))("returns text we set, to xclip and to us: %s", async (_, text) => {
    await set(desk, text)
    expect(await xclipOut(desk, "-target", "UTF8_STRING")).toBe(text)
    expect(await get(desk)).toBe(text)
  })

  test.each(Object.entries(TEXTS))("returns text that xclip set: %s", async (name, text) => {
    const owner = await xclipIn(desk, text)
    expect(await get(desk)).toBe(text)
    owner.kill()
    if (name === "large") expect(text.length).toBeGreaterThan(1_000_000)
  })

  test("offers its targets, and returns each as named", async () => {
    await set(desk, "Grüße")
    const targets = (await xclipOut(desk, "-target", "TARGETS")).trim().split("\n")
    expect(targets).toEqual(
      expect.arrayContaining([
        "TARGETS",
        "UTF8_STRING",
        "STRING",
        "TEXT",
        "text/plain;charset=utf-8",
        "TIMESTAMP",
      ]),
    )
    expect(await xclipOut(desk, "-target", "text/plain;charset=utf-8")).toBe("Grüße")
    expect(await xclipBytes(desk, "-target", "STRING")).toEqual(Uint8Array.from([71, 114, 0xfc, 0xdf, 101]))
    await expect(xclipOut(desk, "-target", "image/png")).rejects.toThrow()
    await set(desk, "日本")
    expect(await xclipOut(desk, "-target", "TARGETS")).not.toContain("\nSTRING")
  })

  test("transfers twenty megabytes in both directions", async () => {
    const text = "0123456789abcdéf\n".repeat(1_200_000).slice(0, 20_000_000)
    await set(desk, text, Deadline.in(50_000))
    expect(Bun.hash(await xclipOut(desk, "-target", "UTF8_STRING"))).toBe(Bun.hash(text))
    expect(Bun.hash(await getClipboard(desk.x, Deadline.in(50_000)))).toBe(Bun.hash(text))
    const owner = await xclipIn(desk, text)
    expect(Bun.hash(await getClipboard(desk.x, Deadline.in(50_000)))).toBe(Bun.hash(text))
    owner.kill()
  })

  test("is read as Latin-1 if there is no other target", async () => {
    const owner = await xclipIn(desk, "only latin", "-target", "STRING")
    expect(await get(desk)).toBe("only latin")
    owner.kill()
  })

  test("fails if it holds no text", async () => {
    const owner = await xclipIn(desk, "not really a picture", "-target", "image/png")
    await expect(get(desk)).rejects.toMatchObject({ code: "ACTION_FAILED" })
    owner.kill()
  })

  test("with a stopped owner fails at the deadline, and can be replaced", async () => {
    const owner = await xclipIn(desk, "stopped")
    owner.kill("SIGSTOP")
    await expect(getClipboard(desk.x, Deadline.in(400))).rejects.toMatchObject({ code: "APP_UNRESPONSIVE" })
    await set(desk, "new")
    expect(await get(desk)).toBe("new")
    owner.kill("SIGKILL")
  })

  test("is empty if its owner dies before it answers", async () => {
    const owner = await xclipIn(desk, "dying")
    owner.kill("SIGSTOP")
    const reading = get(desk)
    owner.kill("SIGKILL")
    expect(await reading).toBe("")
  })
})

describe("the owner", () => {
  test("outlives its connection, and ends when it is replaced or cleared or the display ends", async () => {
    const desk = await startXvfb()
    const other = await X11.connect(desk.env, patience())
    await setClipboard(other, "first", desk.env, patience(), OWNER)
    other.close()
    expect(await xclipOut(desk)).toBe("first")
    const first = (await ownerPid(desk))!
    await set(desk, "second")
    await until(() => !isRunning(first))
    const second = (await ownerPid(desk))!
    expect(await xclipOut(desk)).toBe("second")
    await clearClipboard(desk.x, patience())
    await until(() => !isRunning(second))
    expect(await get(desk)).toBe("")
    await set(desk, "third")
    const third = (await ownerPid(desk))!
    await desk[Symbol.asyncDispose]()
    await until(() => !isRunning(third))
  })

  test("fails if it cannot start", async () => {
    await using desk = await startXvfb()
    await expect(setClipboard(desk.x, "x", desk.env, patience(), ["/bin/false"])).rejects.toMatchObject({
      code: "ACTION_FAILED",
    })
    await expect(
      setClipboard(desk.x, "x", desk.env, Deadline.in(300), ["/bin/sleep", "30"]),
    ).rejects.toMatchObject({ code: expect.any(String) })
    expect(await get(desk)).toBe("")
  })
})
