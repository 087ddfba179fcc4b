import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { firefox, startFixture, startPage } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { openInOffice } from "../support/office.ts"
import { until } from "../support/until.ts"

/** Commands for tables and texts on controls that do not have them: the error names what is missing and what to do. */

setDefaultTimeout(240_000)

const KINDS = ["gtk3", "gtk4", "qt6", "qt5", "chromium", "firefox", "writer", "calc", "impress"] as const
type Kind = (typeof KINDS)[number]

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop?.close())

interface Started {
  readonly window: string
  /** A control that is neither a text nor in a table. */
  readonly button: string
}

const started = new Map<Kind, Promise<Started>>()

/** Starts the app once, for all tests. */
function start(kind: Kind): Promise<Started> {
  const running = started.get(kind) ?? open(kind)
  started.set(kind, running)
  return running
}

async function open(kind: Kind): Promise<Started> {
  if (kind === "writer" || kind === "calc" || kind === "impress") {
    const file = `${desktop.directory}/${kind}.${{ writer: "fodt", calc: "fods", impress: "fodp" }[kind]}`
    await Bun.write(file, documentOf(kind))
    const window = await openInOffice(desktop, { part: kind, file })
    return { window, button: 'button "Print"' }
  }
  const fixture =
    kind === "chromium" || kind === "firefox"
      ? await startPage(desktop, kind === "firefox" ? firefox : undefined)
      : await startFixture(desktop, kind)
  const window = await until(async () => {
    const { json } = await desktop.run("list-windows")
    return json?.data?.windows.find(({ title }: Json) => title.startsWith(fixture.title))?.id
  }, 60_000)
  return { window, button: 'button "Press me"' }
}

const BODIES = {
  writer: ["text", "<office:text><text:p>One</text:p></office:text>"],
  calc: ["spreadsheet", '<office:spreadsheet><table:table table:name="S"/></office:spreadsheet>'],
  impress: ["presentation", '<office:presentation><draw:page draw:name="One"/></office:presentation>'],
} as const

const documentOf = (kind: keyof typeof BODIES): string => `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${BODIES[kind][0]}">
<office:body>${BODIES[kind][1]}</office:body></office:document>`

const COMMANDS: readonly (readonly [readonly string[], "Text" | "Table"])[] = [
  [["table", "@"], "Table"],
  [["set-cells", "@", "A1", "x"], "Table"],
  [["get", "@", "text", "--range", "0:1"], "Text"],
  [["get", "@", "selection"], "Text"],
  [["get", "@", "caret"], "Text"],
  [["get", "@", "attributes"], "Text"],
  [["select-text", "@", "--word", "1"], "Text"],
  [["caret", "@", "0"], "Text"],
]

/** Buttons of these have a Text interface with their label. */
const HAVE_TEXT: ReadonlySet<Kind> = new Set<Kind>(["chromium", "firefox"])

describe.each(KINDS)("in %s", (kind) => {
  test("a button says which interface it lacks, and names the next step", async () => {
    const { window, button } = await start(kind)
    const run = async (args: readonly string[]): Promise<Json> =>
      (
        await desktop.run(
          ...args.map((arg) => (arg === "@" ? button : arg)),
          "--window-id",
          window,
          "--timeout-ms",
          "60000",
        )
      ).json
    await until(async () => (await run(["get", "@", "role"])).ok, 90_000)
    for (const [args, lacks] of COMMANDS) {
      const { error, data } = await run(args)
      // Chromium ignores a selection in a button's label. The answer says that no selection shows.
      const isTried = data !== undefined || error.details?.kind === "not_shown"
      if (lacks === "Text" && isTried && HAVE_TEXT.has(kind)) continue
      expect({ kind, args, data, ...error }).toMatchObject({
        code: "ACTION_NOT_SUPPORTED",
        suggestion: expect.stringContaining("agent-desktop"),
        platform_detail: expect.stringContaining(`org.a11y.atspi.${lacks}`),
        details: { interface: `org.a11y.atspi.${lacks}` },
      })
      expect(error.disposition?.delivery ?? "not_delivered").toBe("not_delivered")
    }
  })
})

interface Dumped {
  readonly name: string
  readonly role: string
  readonly interfaces: readonly string[]
}

/** All objects of the fixture as pyatspi sees them. */
async function objectsOf(kind: Kind, title: string): Promise<readonly Dumped[]> {
  const script = new URL("atspi-dump.py", import.meta.url).pathname
  const { json } = await desktop.run("list-apps")
  const names: readonly string[] = json.data.apps.map(({ name }: Json) => name)
  for (const app of [`fixture-${kind}`, ...names]) {
    const child = Bun.spawn(["/usr/bin/python3", script, app, title], {
      env: { ...process.env, ...desktop.env },
      stdout: "pipe",
      stderr: "ignore",
    })
    const text = await new Response(child.stdout).text()
    if (text.trim() !== "") return JSON.parse(text).nodes
  }
  return []
}

const nodesOf = (node: Json): readonly Json[] => [node, ...(node.children ?? []).flatMap(nodesOf)]

/** One command for each interface. */
const ON_OTHERS = [
  ["Text", "get", { property: "text", range: "0:1" }],
  ["Text", "select-text", { word: 1 }],
  ["Table", "table", {}],
  ["Table", "set-cells", { at: "ZZ999", tsv: "x" }],
] as const

describe.each(["gtk3", "gtk4", "qt6", "qt5"] as const)("in %s", (kind) => {
  test("the first control of every role has the interface, or says which one it lacks, and the next step works", async () => {
    const { window } = await start(kind)
    const snapshot = await until(
      async () => (await desktop.run("snapshot", "--window-id", window, "--max-depth", "50")).json?.data,
      60_000,
    )
    const objects = await objectsOf(kind, snapshot.window.title)
    expect(objects.length).toBeGreaterThan(20)
    const named = nodesOf(snapshot.tree).filter(({ ref_id, name }) => ref_id && name)
    const first = [...Map.groupBy(named, ({ role }) => role).values()].map(([node]) => node as Json)
    expect(first.length).toBeGreaterThan(8)
    const asked = first.flatMap((node) =>
      ON_OTHERS.map(([lacks, command, args]) => ({
        node,
        lacks,
        command,
        args: { ref_id: node.ref_id, ...args },
      })),
    )
    const batch = async (items: readonly object[]): Promise<readonly Json[]> => {
      const { json } = await desktop.run("batch", JSON.stringify(items), "--timeout-ms", "120000")
      return json.data?.results ?? json.error.details.results
    }
    const results = await batch(asked.map(({ command, args }) => ({ command, args })))
    const steps: { readonly command: string; readonly args: object }[] = []
    for (const [at, { node, lacks, command }] of asked.entries()) {
      const { error, data } = results[at] ?? {}
      const { role, name } = node
      const about = { role, name, command, data, ...error }
      if (data) continue
      expect(error?.disposition?.delivery ?? "not_delivered").toBe("not_delivered")
      if (error?.details?.kind !== `no_${lacks.toLowerCase()}_interface`) {
        // It has the interface, but not the part that the command needs.
        expect(about).toMatchObject({ suggestion: expect.stringMatching(/agent-desktop|with 'table'/) })
        continue
      }
      expect(about).toMatchObject({
        code: "ACTION_NOT_SUPPORTED",
        details: { interface: `org.a11y.atspi.${lacks}` },
        suggestion: expect.stringContaining("agent-desktop"),
      })
      // pyatspi agrees. A name that was taken from a label is not the object's own.
      const same = objects.filter((one) => one.name === name && one.role !== "label")
      if (same.length > 0)
        expect({ about, lack: same.some((one) => !one.interfaces.includes(lacks)) }).toMatchObject({
          lack: true,
        })
      if (lacks === "Text") steps.push({ command: "get", args: { ref_id: node.ref_id, property: "text" } })
      if (lacks === "Text") expect(error.suggestion).toContain(`agent-desktop get ${node.ref_id} text`)
    }
    expect(steps.length).toBeGreaterThan(5)
    for (const [at, { ok, error }] of (await batch(steps)).entries())
      expect({ step: steps[at], ok, error }).toMatchObject({ ok: true })
  })
})

test("the text form of the error names the interface, too", async () => {
  const { stdout } = await desktop.run(
    "get",
    'button "Press me"',
    "caret",
    "--app",
    "fixture-gtk3",
    "--format",
    "text",
  )
  expect(stdout).toContain("missing interface: org.a11y.atspi.Text")
})
