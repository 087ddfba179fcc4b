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

/** Starts the app, and returns its window and a control that is neither a text nor in a table. */
async function start(kind: Kind): Promise<{ readonly window: string; readonly button: string }> {
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
      // Chromium ignores a selection in it, and the answer says that none shows.
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
