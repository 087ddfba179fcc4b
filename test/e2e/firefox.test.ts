import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { firefox, startPage } from "../fixtures/fixture.ts"
import { openDesktop, type RunResult } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { type Printed, Stage } from "./matrix-stage.ts"

/** The page of the matrix in Firefox, which has its own accessibility code. The log of the page decides. */

let stage: Stage

beforeAll(async () => {
  const desktop = await openDesktop()
  stage = new Stage(desktop, await startPage(desktop, firefox), "web")
  await until(async () => find(await look(), "button", "Exit"), 30_000)
})
afterAll(() => stage?.desktop.close())

const look = () => stage.look("--max-depth", "50")

function find(nodes: readonly Printed[], role: string, name: string): Printed | undefined {
  // Some releases put the arrow of an expandable element into its name.
  return nodes.find((node) => node.role === role && node.name?.replace(/^[▸▾] /, "") === name)
}

/** After a reset, Firefox reports restored controls late. */
const refOf = (role: string, name: string): Promise<string> =>
  until(async () => find(await look(), role, name)?.ref_id).catch(() => {
    throw new Error(`No ${role} '${name}'`)
  })

/** Runs the command on the control with that role and name. Returns the answer and the events that the page logs. */
async function act(role: string, name: string, command: string, ...args: readonly string[]) {
  await stage.reset()
  const ref = await refOf(role, name)
  const mark = await stage.mark()
  const result = await stage.run(command, ref, ...args, "--timeout-ms", "15000")
  return { result, events: (log: readonly Wanted[]) => stage.seenSince(mark, log) }
}

interface Wanted {
  readonly event: string
  readonly name: string
  readonly value?: unknown
}

const on = (event: string, name: string, value?: unknown): Wanted => ({
  event,
  name,
  ...(value === undefined ? {} : { value }),
})
const outcome = ({ json }: RunResult): string =>
  json.ok ? `${json.data.method} ${json.data.disposition.delivery}` : json.error.code
const letters = (name: string, text: string): readonly Wanted[] =>
  [...text].map((_, index) => on("text", name, text.slice(0, index + 1)))

describe("in Firefox", () => {
  test("a table has its rows and titles, and refs that mean its cells", async () => {
    const ref = await until(async () => {
      const { json } = await stage.run("table", "--window-id", await stage.windowId())
      const found: readonly { name?: string; ref_id: string }[] = json.error?.details.candidates ?? [
        json.data,
      ]
      return found.find(({ name }) => name === "People")?.ref_id
    })
    const words = ["--header", "--cells", "--timeout-ms", "15000"]
    const { data } = (await stage.run("table", ref, ...words)).json
    expect(data).toMatchObject({
      header: ["Person", "Age"],
      rows: [
        ["Ada", "36"],
        ["Alan", "41"],
        ["Grace", "85"],
      ],
    })
    const cell = await stage.run("table", data.cell_refs[1][0], "--rows", "2", "--timeout-ms", "15000")
    expect(cell.json.data.rows).toEqual([["Alan", "41"]])
  })

  test("text is read and selected by characters, and its formatting is reported", async () => {
    const ref = await refOf("textfield", "Notes")
    const run = async (...args: readonly string[]) => (await stage.run(...args, "--timeout-ms", "15000")).json
    // Firefox counts an emoji as two characters.
    await run("set-value", ref, "One \u{1f600} two\nthird line")
    expect((await run("get", ref, "text", "--range", "7:12")).data).toMatchObject({
      value: "two\nt",
      length: 21,
    })
    expect((await run("select-text", ref, "--match", "two")).data).toMatchObject({ start: 7, text: "two" })
    expect((await run("select-text", ref, "--word", "3")).data).toMatchObject({
      start: 11,
      end: 16,
      text: "third",
    })
    expect((await run("get", ref, "selection")).data.value).toMatchObject({ text: "third" })
    expect((await run("caret", ref, "2")).data).toMatchObject({ start: 2 })
    expect((await run("get", ref, "caret")).data.value).toBe(2)
    expect((await run("get", ref, "attributes")).data.value[0]).toMatchObject({
      start: 0,
      size: expect.any(Number),
    })
  })

  test("every control on the page has its role and name, and wait --text finds the page's text", async () => {
    await stage.reset()
    const nodes = await look()
    for (const [role, name] of [
      ["button", "Press me"],
      ["checkbox", "Agree"],
      ["radiobutton", "Medium"],
      ["switch", "Wi-Fi"],
      ["textfield", "Name"],
      ["slider", "Volume"],
      ["incrementor", "Amount"],
      ["combobox", "Fruit"],
      ["option", "Red"],
      ["treeitem", "Documents"],
      ["cell", "Ada"],
      ["tab", "First"],
      ["link", "Website"],
    ] as const)
      expect(find(nodes, role, name)?.ref_id, `${role} ${name}`).toMatch(/^@e/)
    const { events } = await act("button", "Press me", "click")
    await events([on("press", "Press me")])
    const { json } = await stage.run("wait", "--text", "press Press me", "--app", "Firefox")
    expect(json.ok).toBe(true)
  })

  test.each<[string, string, string, readonly string[], string, readonly Wanted[]]>([
    ["click", "button", "Press me", [], "atspi:press", [on("press", "Press me")]],
    [
      "right-click",
      "button",
      "Context area",
      [],
      "pointer delivered_verified",
      [on("context", "Context area")],
    ],
    ["toggle", "checkbox", "Agree", [], "atspi:check delivered_verified", [on("check", "Agree", true)]],
    ["check", "radiobutton", "Medium", [], "atspi:select delivered_verified", [on("radio", "Medium", true)]],
    ["check", "switch", "Wi-Fi", [], "atspi:check delivered_verified", [on("switch", "Wi-Fi", true)]],
    ["uncheck", "checkbox", "Agree", [], "none not_delivered", []],
    ["check", "checkbox", "Stuck", [], "ACTION_FAILED", []],
    [
      "type",
      "textfield",
      "Name",
      ["Grüße 日本"],
      "keyboard delivered_verified",
      letters("Name", "Grüße 日本"),
    ],
    ["set-value", "textfield", "Name", ["xyz"], "keyboard delivered_verified", letters("Name", "xyz")],
    ["type", "textfield", "Secret", ["pw"], "keyboard delivered_unverified", letters("Secret", "pw")],
    [
      "set-value",
      "slider",
      "Volume",
      ["70"],
      "atspi:Value.CurrentValue delivered_verified",
      [on("value", "Volume", 70)],
    ],
    ["set-value", "incrementor", "Amount", ["9"], "keyboard delivered_verified", [on("value", "Amount", 9)]],
    [
      "select",
      "combobox",
      "Fruit",
      ["Banana"],
      "pointer delivered_verified",
      [on("select", "Fruit", "Banana")],
    ],
    ["select", "combobox", "Fruit", ["Kiwi"], "ELEMENT_NOT_FOUND", []],
    [
      "select",
      "listbox",
      "Colours",
      ["Blue"],
      "atspi:select delivered_verified",
      [on("select", "Colours", "Blue")],
    ],
    ["click", "tab", "Second", [], "atspi:press", [on("tab", "Second")]],
    ["click", "cell", "Ada", [], "pointer", [on("select", "People", "Ada")]],
    ["click", "link", "Website", [], "atspi:jump", [on("link", "Website")]],
    ["expand", "treeitem", "Documents", [], "keyboard delivered_verified", [on("expand", "Documents", true)]],
    ["expand", "button", "Details", [], "atspi:expand delivered_verified", [on("expand", "Details", true)]],
    ["click", "menubutton", "Options", [], "atspi:press", [on("popover", "Options", true)]],
  ])("%s on the %s '%s' with %p gives %s", async (command, role, name, args, outcomeWanted, log) => {
    const { result, events } = await act(role, name, command, ...args)
    expect(await events(log)).toEqual([...log])
    // The effect of a click may show later, so its delivery is not compared.
    expect(outcome(result), result.stdout).toStartWith(outcomeWanted)
  })

  test("a read-only field is not set, and a disabled button is not clicked", async () => {
    for (const [role, name, command, ...args] of [
      ["textfield", "Serial", "set-value", "x"],
      ["button", "Locked", "click"],
    ] as const) {
      await stage.reset()
      const ref = await refOf(role, name)
      const { json } = await stage.run(command, ref, ...args, "--timeout-ms", "500")
      expect(json.error).toMatchObject({ code: "ACTION_FAILED", disposition: { delivery: "not_delivered" } })
    }
  })

  test("a pointer click on a covered button is refused, and nothing is pressed", async () => {
    await stage.reset()
    const ref = await refOf("button", "Occluded")
    const { json } = await stage.run("click", ref, "--input", "physical", "--timeout-ms", "1500")
    expect(json.error).toMatchObject({
      code: "ACTION_FAILED",
      details: { reason: expect.stringContaining("Cover") },
      disposition: { delivery: "not_delivered" },
    })
    await stage.fixture.command({ do: "sync" })
    expect(
      (await stage.fixture.events()).some(({ event, name }) => event === "press" && name === "Cover"),
    ).toBe(false)
  })

  test("no answer contains a password or its length", async () => {
    await stage.reset()
    await stage.fixture.command({ do: "set", name: "Secret", value: "open sesame" })
    const field = find(await look(), "textfield", "Secret")
    expect(field).toMatchObject({ states: expect.arrayContaining(["secure"]) })
    const { stdout } = await stage.run("get", field?.ref_id ?? "", "value")
    const { stdout: all } = await stage.run("snapshot", "--app", "Firefox", "--max-depth", "50")
    for (const text of [stdout, all]) expect(text).not.toMatch(/sesame|●|•{2}/)
  })

  test("the ref of a removed element is stale", async () => {
    await stage.reset()
    const ref = await refOf("button", "Vanish")
    expect((await stage.run("click", ref)).json.ok).toBe(true)
    await stage.fixture.seen("press", "Vanish")
    expect((await stage.run("wait", "--element", ref, "--predicate", "gone")).json.ok).toBe(true)
    const { json } = await stage.run("click", ref)
    expect(json.error.code).toBe("STALE_REF")
  })
})
