import { describe, expect, test } from "bun:test"
import { loadAll } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { fieldsOf, positionalsOf } from "../../src/schema/fields.ts"

const loaded = await loadAll(commands)

/**
 * The commands that the contract promises, with their arguments. `!` marks a positional. The list is frozen:
 * a new command or a new argument gets no entry here.
 */
const CONTRACT: Readonly<Record<string, string>> = {
  snapshot:
    "app window_id max_depth include_bounds interactive_only compact surface include_hidden root skeleton budget diff",
  find: "app window_id role name value text state exact count first last nth limit",
  get: "ref_id! property! snapshot",
  is: "ref_id! property! snapshot",
  screenshot: "path! app window_id screen annotate",
  "list-surfaces": "app",
  "list-windows": "app",
  "list-apps": "",
  "list-displays": "",
  click: "ref_id! snapshot input changes",
  "double-click": "ref_id! snapshot input changes",
  "triple-click": "ref_id! snapshot input changes",
  "right-click": "ref_id! snapshot input changes",
  clear: "ref_id! snapshot input changes",
  focus: "ref_id! snapshot input changes",
  toggle: "ref_id! snapshot input changes",
  check: "ref_id! snapshot input changes",
  uncheck: "ref_id! snapshot input changes",
  expand: "ref_id! snapshot input changes",
  collapse: "ref_id! snapshot input changes",
  "scroll-to": "ref_id! snapshot input changes",
  type: "ref_id! text! snapshot input changes",
  "set-value": "ref_id! value! snapshot input changes",
  select: "ref_id! value! more! snapshot input changes",
  scroll: "ref_id! direction! amount! snapshot input changes",
  press: "combo! app cmd_as_ctrl force changes",
  "key-down": "combo! cmd_as_ctrl force",
  "key-up": "combo!",
  hover: "ref_id! xy duration_ms snapshot changes",
  drag: "from! from_xy to to_xy duration_ms snapshot changes",
  "mouse-move": "xy!",
  "mouse-click": "xy! button count changes",
  "mouse-down": "xy! button",
  "mouse-up": "xy! button",
  "mouse-wheel": "xy! dx dy changes",
  launch: "app! arg",
  "close-app": "app! force",
  "focus-window": "window_id! app title",
  "resize-window": "window_id! width! height! app",
  "move-window": "window_id! x! y! app",
  minimize: "window_id! app",
  maximize: "window_id! app",
  restore: "window_id! app",
  "clipboard-get": "",
  "clipboard-set": "text!",
  "clipboard-clear": "",
  "list-notifications": "app text limit",
  "dismiss-notification": "index! app",
  "notification-action": "index! action! app",
  "dismiss-all-notifications": "app",
  wait: "ms! element predicate value window text gone menu menu_closed notification app snapshot",
  batch: "commands! stop_on_error",
  status: "",
  permissions: "request",
  version: "",
  doctor: "ffi",
  "desktop-start": "name size",
  "desktop-stop": "name! all",
  "list-desktops": "",
}

describe.each(Object.entries(CONTRACT))("the contract's %s", (name, members) => {
  const command = loaded.find((one) => one.name === name)

  test("exists and takes the promised arguments", () => {
    const fields = command ? fieldsOf(command.input) : []
    const wanted = members.split(" ").filter(Boolean)
    const names = wanted.map((member) => member.replace("!", ""))
    expect(command).toBeDefined()
    expect(names.filter((member) => !fields.some((field) => field.name === member))).toEqual([])
    expect(positionalsOf(fields).map((field) => field.name)).toEqual(
      wanted.filter((member) => member.endsWith("!")).map((member) => member.slice(0, -1)),
    )
  })
})

test("exactly the commands that only look are declared to read", () => {
  const reading = loaded.filter(({ effect }) => effect === "reads").map(({ name }) => name)
  const looks =
    /^(snapshot|find|get|is|screenshot|wait|status|permissions|version|doctor|clipboard-get|list-.*)$/
  expect(reading.filter((name) => !looks.test(name) && CONTRACT[name] !== undefined)).toEqual([])
  expect(Object.keys(CONTRACT).filter((name) => looks.test(name) && !reading.includes(name))).toEqual([])
})

test.each([
  ["snapshot", { max_depth: 10, surface: "window", interactive_only: false, timeout_ms: 5000 }],
  ["find", { limit: 50 }],
  ["scroll", { direction: "down", amount: 3 }],
  ["click", { input: "auto", timeout_ms: 5000 }],
  ["wait", { predicate: "exists", timeout_ms: 30_000 }],
  ["launch", { timeout_ms: 30_000 }],
  ["mouse-click", { button: "left", count: 1 }],
  ["desktop-start", { size: "1920x1080" }],
])("%s has the contract's defaults", async (name, defaults) => {
  const fields = Object.fromEntries(
    fieldsOf((await commands[name]!()).input).map((field) => [field.name, field.default]),
  )
  expect(fields).toMatchObject(defaults)
})
