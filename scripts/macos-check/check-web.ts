import { type Check, expectEqual, flatten, type Mac, refOf, Skip, type Window } from "./mac.ts"
import { CHROME, SAFARI } from "./scripts.ts"
import { servePage, type WebPage } from "./web-page.ts"

/** Web pages, in Safari and, if it is installed, in Chrome. The page itself reports what happened to it. */

const WORD = "A4711 Ä✓ Z0815"

const inBrowser = (app: string, name: string): Check => ({
  about: "once, typing, depth, waking",
  title: `${name}: a page gets the typed text, and every click once`,
  touches: `opens two pages of its own in ${name}, and closes them`,
  run: async (mac) => {
    if ((await mac.script("isInstalled", app)) !== "true") throw new Skip(`${name} is not installed`)
    const page = servePage(mac.nonce)
    mac.later("stop the web server", async () => page.stop())
    await mac.borrow(app)
    mac.later("close the pages", () => mac.script("closeWebPages", app, page.url))
    await open(mac, app, page)
    const first = await mac.window(app, mac.nonce)
    const typed = await type(mac, first, page)
    const clicked = await click(mac, first, page)
    await open(mac, app, page)
    const trees = await bothWindows(mac, app)
    return [typed, clicked, trees].join("; ")
  },
})

export const webChecks: readonly Check[] = [inBrowser(SAFARI, "Safari"), inBrowser(CHROME, "Chrome")]

async function open(mac: Mac, app: string, page: WebPage): Promise<void> {
  const before = page.seen.loads
  await mac.script("openWebWindow", app, page.url)
  await mac.eventually(async () => {
    if (page.seen.loads === before) throw new Error("the page was not loaded")
  })
}

/** The ref of an element of the page, once the browser shows its contents. */
function find(mac: Mac, { id }: Window, role: string, name: string): Promise<string> {
  return mac.eventually(async () => {
    const nodes = await mac.nodes("--window-id", id, "-i")
    return refOf(
      nodes.find((node) => node.role === role && node.name === name),
      `${role} '${name}' in the page`,
    )
  })
}

async function type(mac: Mac, window: Window, page: WebPage): Promise<string> {
  const said = await mac.answer("type", await find(mac, window, "textfield", `Field ${mac.nonce}`), WORD)
  const delivery = said.data?.disposition?.delivery ?? said.error?.disposition?.delivery
  try {
    await mac.eventually(async () => expectEqual(page.seen.text, WORD, "the text in the page"))
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}; the answer says ${delivery}`)
  }
  return `typed: ${delivery}`
}

/** Clicks the button below thirty levels of groups, by accessibility and by mouse. */
async function click(mac: Mac, window: Window, page: WebPage): Promise<string> {
  const deliveries: string[] = []
  for (const input of ["auto", "physical"]) {
    const before = page.seen.clicks
    const button = await find(mac, window, "button", `Button ${mac.nonce}`)
    const said = await mac.answer("click", button, "--input", input)
    await mac.eventually(async () => {
      if (page.seen.clicks === before) throw new Error(`not clicked (${input}): ${JSON.stringify(said)}`)
    })
    await mac.outside.pause(SECOND_MS)
    const times = page.seen.clicks - before
    if (times !== 1) throw new Error(`clicked ${times} times (${input}): ${JSON.stringify(said)}`)
    deliveries.push(`${input} ${said.data?.disposition?.delivery ?? said.error?.code}`)
  }
  return `clicked: ${deliveries.join(", ")}`
}

/** Reads both windows in one process. The browser must have built the contents of the second window, too. */
async function bothWindows(mac: Mac, app: string): Promise<string> {
  return mac.eventually(async () => {
    const { windows } = await mac.desktop("list-windows", "--app", app)
    const own = windows.filter(({ title }: Window) => title.includes(mac.nonce))
    if (own.length < 2) throw new Error(`${own.length} windows show the page`)
    const items = own.map(({ id }: Window) => ({
      command: "snapshot",
      args: { window_id: id, max_depth: 50 },
    }))
    const { results } = await mac.desktop("batch", JSON.stringify(items))
    const asleep = results.filter(
      (one: { ok: boolean; data?: { tree: Parameters<typeof flatten>[0] } }) =>
        !one.ok || !flatten(one.data!.tree).some(({ name }) => name === `Button ${mac.nonce}`),
    )
    if (asleep.length > 0) throw new Error(`${asleep.length} of ${own.length} windows show no page`)
    return `${own.length} windows read by one process`
  })
}

const SECOND_MS = 1500
