import { expect, test } from "bun:test"
import fc from "fast-check"
import { plainText } from "../../../src/linux/atspi/names.ts"
import { openDesktop } from "../../support/desktop.ts"
import { within } from "../../support/pace.ts"
import { until } from "../../support/until.ts"

test("markup that Qt shows as rich text is read as plain text", () => {
  for (const [markup, words] of [
    ["<html><head/><body><p>Open a file</p></body></html>", "Open a file"],
    [
      '<!DOCTYPE HTML><html><head><style type="text/css">p { margin: 0 }</style></head><body><p>One</p><p>Two</p></body></html>',
      "One Two",
    ],
    ["<p>Save <b>all</b> files</p>", "Save all files"],
    ["Undo<br/>the last step", "Undo the last step"],
    ["<qt>a &lt; b &amp;&amp; c&#33; &#x263a; &unknown;</qt>", "a < b && c! ☺ &unknown;"],
    ["  <span style='color:red'>Stop</span>ped", "Stopped"],
    ['<?xml version="1.0"?>\n<html><body>Text</body></html>', "Text"],
    ["<b></b>", ""],
  ] as const)
    expect(plainText(markup)).toBe(words)
})

test("text that only contains such characters is not changed", () => {
  for (const text of [
    "a < b",
    "<Unknown>",
    "List<String>",
    "x <= 3 and y > 4",
    "1 <2> 3",
    "first line\n<b>second</b>",
    "<3",
    "<",
    "<b",
    "Tom & Jerry &amp; friends",
    "",
  ])
    expect(plainText(text)).toBe(text)
})

test("text without a tag that Qt knows is not changed, and long texts are fast", async () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."<>/&;! ax1\n") }), (text) => {
      fc.pre(!/<\s*!?(a|doc)/i.test(text))
      expect(plainText(text)).toBe(text)
    }),
  )
  await within(1000, () => {
    plainText(`<b>${"<".repeat(200_000)}`)
    plainText(`<b>${"<!--".repeat(50_000)}`)
    plainText(`<b>${"<head>".repeat(20_000)}`)
  })
})

test.each(["PyQt5", "PyQt6"])("a rich-text tool tip of %s becomes a plain description", async (binding) => {
  await using desktop = await openDesktop()
  desktop.spawnApp(["/usr/bin/python3", "-c", PROGRAM, binding])
  const button = await until(async () => {
    const { json } = await desktop.run("find", "--app", "tips", "--role", "button", "--first")
    return json?.data?.match
  }, 20_000)
  expect(button.name).toBe("if a <x> c")
  const { json } = await desktop.run("get", button.ref_id, "description")
  expect(json.data.value).toBe("Compares two numbers")
})

const PROGRAM = `
import importlib, sys
QtWidgets = importlib.import_module(sys.argv[1] + ".QtWidgets")
app = QtWidgets.QApplication(["tips"])
app.setApplicationName("tips")
window = QtWidgets.QMainWindow()
button = QtWidgets.QPushButton("if a <x> c")
button.setToolTip("<html><head/><body><p>Compares <b>two</b> numbers</p></body></html>")
window.setCentralWidget(button)
window.show()
getattr(app, "exec", getattr(app, "exec_", None))()
`
