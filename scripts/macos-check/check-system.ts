import { type Check, changed, closeLater, expectEqual, flatten, type Mac, refOf, Skip } from "./mac.ts"
import { CALCULATOR, FINDER, SETTINGS, TEXTEDIT } from "./scripts.ts"

/** The program itself, and everything that is not inside one app's window. */

const NOTHING = "nothing"

interface Finding {
  readonly name: string
  readonly ok: boolean
  readonly detail?: string
}

export const systemChecks: readonly Check[] = [
  {
    about: "start",
    title: "the program starts",
    touches: NOTHING,
    isVital: true,
    run: async (mac) => JSON.stringify(await mac.desktop("version")),
  },
  {
    about: "start",
    title: "every native symbol exists",
    touches: NOTHING,
    isVital: true,
    run: async (mac) => {
      const { checks } = await mac.desktop("doctor", "--ffi")
      const said = checks.map(
        ({ name, ok, detail = "" }: Finding) => `${ok ? "ok" : "NO"} ${name}: ${detail}`,
      )
      const missing = checks.filter(({ name, ok }: Finding) => name.startsWith("symbols of") && !ok)
      if (missing.length > 0) throw new Error(said.join("\n"))
      return said.join("\n")
    },
  },
  {
    about: "permissions",
    title: "Accessibility and Screen Recording are granted",
    touches: NOTHING,
    isVital: true,
    run: async (mac) => {
      const permissions = await mac.desktop("permissions")
      if (!permissions.granted || permissions.screen_recording.state !== "granted")
        throw new Error(JSON.stringify(permissions, null, 2))
      return `for ${permissions.grant_to ?? "a program that macOS does not name"}`
    },
  },
  {
    about: "one app",
    title: "all apps in the Dock are listed, even if one of them answers with an error",
    touches: NOTHING,
    run: async (mac) => {
      const { apps } = await mac.desktop("list-apps")
      const { windows } = await mac.desktop("list-windows")
      const pids = new Set(apps.map(({ pid }: { pid: number }) => pid))
      const wanted = (await mac.script("regularApps")).split("\n").filter(Boolean).map(Number)
      const missing = wanted.filter((pid) => !pids.has(pid))
      if (missing.length > 0) throw new Error(`${missing.length} of ${wanted.length} apps are missing`)
      return `${apps.length} apps, ${windows.length} windows`
    },
  },
  {
    about: "young",
    title: "an app can be read right after its launch",
    touches: "opens Calculator, and quits it",
    run: async (mac) => {
      if (await mac.borrow(CALCULATOR)) throw new Skip("Calculator runs already")
      await mac.desktop("launch", CALCULATOR)
      const started = performance.now()
      const nodes = await mac.nodes("--app", CALCULATOR, "-i")
      const ms = Math.round(performance.now() - started)
      if (nodes.filter(({ role }) => role === "button").length < 10)
        throw new Error(`only ${nodes.length} nodes`)
      return `${nodes.length} nodes after ${ms} ms`
    },
  },
  {
    about: "keys",
    title: "Calculator adds, judged by the result that it copies",
    touches: "opens Calculator and changes the clipboard; quits it, and restores the text",
    run: async (mac) => {
      await keepClipboard(mac)
      await mac.borrow(CALCULATOR)
      await mac.desktop("launch", CALCULATOR)
      for (const key of ["escape", "escape", "7", "+", "5", "return", "cmd+c"])
        await mac.desktop("press", key, "--app", CALCULATOR)
      await mac.eventually(async () => expectEqual((await mac.run(["pbpaste"])).trim(), "12", "7 + 5"))
      return undefined
    },
  },
  {
    about: "hanging",
    title: "an app that hangs does not slow down commands for another app",
    touches: "opens Calculator, stops its process for a moment, and quits it",
    run: async (mac) => {
      if (await mac.borrow(CALCULATOR)) throw new Skip("Calculator runs already")
      const { pid } = await mac.desktop("launch", CALCULATOR)
      const before = await quickest(mac)
      mac.later("let Calculator go on", () => mac.run(["kill", "-CONT", `${pid}`]))
      await mac.run(["kill", "-STOP", `${pid}`])
      const during = await quickest(mac)
      if (during > before + ALLOWANCE_MS) throw new Error(`${during} ms instead of ${before} ms`)
      return `${before} ms, with the hanging app ${during} ms`
    },
  },
  {
    about: "clipboard",
    title: "the clipboard has the same text as pbpaste and pbcopy",
    touches: "changes the clipboard, and restores its text",
    run: async (mac) => {
      await keepClipboard(mac)
      const text = `Grüße ✓ 👋\n${mac.nonce}`
      await mac.desktop("clipboard-set", text)
      expectEqual(await mac.run(["pbpaste"]), text, "pbpaste")
      expectEqual((await mac.desktop("clipboard-get")).text, text, "clipboard-get")
      return undefined
    },
  },
  {
    about: "menus",
    title: "a menu of the menu bar opens, with as many items as System Events counts",
    touches: "opens TextEdit with an empty document and a menu, and closes them",
    run: async (mac) => {
      await mac.borrow(TEXTEDIT)
      await closeLater(mac, TEXTEDIT)
      await mac.script("newDocument")
      const { tree } = await mac.desktop("snapshot", "--app", TEXTEDIT, "--surface", "menubar")
      // The third menu, after the Apple menu and the app's own: a menu of the app in any language.
      mac.later("close the menu", () => mac.desktop("press", "escape"))
      await mac.desktop("click", refOf(tree.children?.[2], "third menu"))
      const menu = flatten((await mac.desktop("snapshot", "--app", TEXTEDIT, "--surface", "menu")).tree)
      const shown = menu.filter(({ role }) => role.includes("menuitem")).length
      const wanted = Number(await mac.script("menuLength", TEXTEDIT, 3))
      // System Events also counts separators and hidden alternatives.
      if (shown === 0 || shown > wanted) throw new Error(`${shown} items instead of at most ${wanted}`)
      return `${shown} of ${wanted}`
    },
  },
  {
    about: "windows",
    title: "a Finder window can be moved, maximised and restored",
    touches: "opens a Finder window, and closes it",
    run: async (mac) => {
      await closeLater(mac, FINDER)
      const own = await mac.script("openFolder", mac.folder, "list view")
      const { id } = await mac.window(FINDER, mac.nonce)
      await mac.desktop("focus-window", id)
      const moved = (await mac.desktop("move-window", id, "120", "140")).window
      expectEqual((await mac.script("folderPosition", own)).split("\n")[0], "120", "Finder's left edge")
      const large = (await mac.desktop("maximize", id)).window
      const back = (await mac.desktop("restore", id)).window
      expectEqual(back.bounds, moved.bounds, "the restored bounds")
      return `maximised ${JSON.stringify(large.bounds)}`
    },
  },
  {
    about: "pictures",
    title: "a screenshot of a window has the size that sips reports",
    touches: "opens a Finder window, and closes it",
    run: async (mac) => {
      await closeLater(mac, FINDER)
      await mac.script("openFolder", mac.folder, "list view")
      const window = await mac.window(FINDER, mac.nonce)
      const path = `${mac.folder}/window.png`
      const { width, height } = await mac.desktop("screenshot", path, "--window-id", window.id)
      const said = await mac.run(["sips", "-g", "pixelWidth", "-g", "pixelHeight", path])
      if (!said.includes(`pixelWidth: ${width}`) || !said.includes(`pixelHeight: ${height}`))
        throw new Error(`${width}x${height} instead of ${said}`)
      return `${width}x${height} for ${window.bounds?.width}x${window.bounds?.height}`
    },
  },
  {
    about: "complete, opening",
    title: "System Settings is read completely, and a click in its sidebar changes the pane",
    touches: "opens System Settings on another pane, and quits it; no setting is changed",
    run: async (mac) => {
      if (await mac.borrow(SETTINGS)) throw new Skip("System Settings is open already")
      await mac.desktop("launch", SETTINGS)
      const { id } = await mac.window(SETTINGS)
      const before = await mac.script("windowTitle", SETTINGS)
      const nodes = await mac.allNodes("--window-id", id)
      const row = nodes.find(({ role, states = [], ref_id, name }) => {
        return ref_id && name && ROWS.has(role) && !states.includes("selected") && name !== before
      })
      const said = await mac.desktop("click", refOf(row, "row in the sidebar that is not selected"))
      await changed(mac, () => mac.script("windowTitle", SETTINGS), before, said, "the pane")
      return `${nodes.length} nodes`
    },
  },
]

const ROWS: ReadonlySet<string> = new Set(["row", "treeitem", "cell", "listitem"])

/** A difference in time that a busy Mac may cause by itself. */
const ALLOWANCE_MS = 250

async function quickest(mac: Mac): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    const start = performance.now()
    await mac.desktop("list-windows", "--app", FINDER)
    times.push(performance.now() - start)
  }
  return Math.round(Math.min(...times))
}

/** Registers that the text in the clipboard is restored. Skips the check if the clipboard holds anything but text. */
async function keepClipboard(mac: Mac): Promise<void> {
  const kinds = (await mac.script("clipboardKinds")).split("\n").filter(Boolean)
  if (kinds.length > 0 && !kinds.some((kind) => /utf8|ut16|string/i.test(kind)))
    throw new Skip("the clipboard holds something else than text")
  const text = await mac.run(["pbpaste"])
  mac.later("restore the clipboard", () => mac.run(["pbcopy"], text))
}
