import { describe, expect, test } from "bun:test"
import type { SeenNode } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { readFrames } from "../../../src/linux/atspi/frames.ts"
import { wordsBefore } from "../../../src/linux/atspi/held-texts.ts"
import { readAgain } from "../../../src/linux/atspi/open.ts"
import { frameElement, readTree } from "../../../src/linux/atspi/read-tree.ts"
import { openText } from "../../../src/linux/atspi/text.ts"
import { FakeApp, type FakeNode } from "./fake-app.ts"
import { bus, daemon, OPTIONS, withBus } from "./walked.ts"

withBus()

const TEXT = ["Accessible", "Component", "Text"]
/** Time limit of a reading that ends late. */
const SHORT_MS = 2000

const field = (name?: string): FakeNode => ({ role: "ENTRY", name, states: ["EDITABLE"], interfaces: TEXT })
const box: FakeNode = { role: "CHECK_BOX", interfaces: ["Accessible", "Component"] }

/** `*` in the text stands for a child. */
const paragraph = (text: string, ...children: readonly FakeNode[]): FakeNode => ({
  role: "PARAGRAPH",
  id: "paragraph",
  interfaces: TEXT,
  text: text.replaceAll("*", "\ufffc"),
  children,
})

async function read(content: FakeNode, toolkit = "Gecko", ms = 10_000) {
  const page: FakeNode = {
    role: "DOCUMENT_WEB",
    name: "Page",
    id: "page",
    interfaces: TEXT,
    children: [content],
  }
  const top = content.role === "DOCUMENT_WEB" ? content : page
  const app = await FakeApp.start(
    daemon.address,
    { role: "FRAME", name: "Window", id: "window", children: [top] },
    { toolkit, appName: "Firefox" },
  )
  const atspi = new Atspi(bus, Deadline.in(ms))
  const owner = { ref: app.ref("root"), pid: process.pid, name: "fake", responsive: true }
  const [frame] = await readFrames(atspi, owner, true)
  const element = frameElement(frame!, undefined, async () => [])
  const window = { id: "w-1", title: "Window" }
  const { root, complete } = await readTree(atspi, { element, window, surface: "window", frame }, OPTIONS)
  return { app, root, complete, [Symbol.dispose]: () => app[Symbol.dispose]() }
}

const nodesOf = (node: SeenNode): SeenNode[] => [node, ...node.children.flatMap(nodesOf)]

/** The inferred names of the fields without a name. */
async function namesIn(content: FakeNode) {
  using got = await read(content)
  return nodesOf(got.root)
    .filter(({ role, name }) => role === "textfield" && !name)
    .map(({ inferredName }) => inferredName)
}

describe("a nameless field in a paragraph that contains its text is named by", () => {
  test("the words right before it", async () => {
    expect(await namesIn(paragraph("City *", field()))).toEqual(["City"])
    expect(await namesIn(paragraph("From * to *", field(), field()))).toEqual(["From", "to"])
  })
  test("the line above it", async () => {
    expect(await namesIn(paragraph("City\n*", field()))).toEqual(["City"])
  })
  test("the words before the box that starts with it", async () => {
    const inner: FakeNode = { role: "SECTION", interfaces: TEXT, text: "\ufffc", children: [field()] }
    expect(await namesIn(paragraph("City *", inner))).toEqual(["City"])
  })
})

describe("a nameless field in such a paragraph stays nameless", () => {
  for (const [title, content] of Object.entries({
    "if there are no words before it": paragraph("* pixels", field()),
    "if the words are those of a check box": paragraph("* I agree *", box, field()),
    "if the line above starts with another control": paragraph("* I agree\n*", box, field()),
    "if there is an empty line between": paragraph("City\n\n*", field()),
    "if the text has more placeholders than the paragraph has children": paragraph("* City *", field()),
    "behind a whole sentence": paragraph(`${"long words ".repeat(20)}*`, field()),
  }))
    test(title, async () => expect(await namesIn(content)).toEqual([undefined]))
})

describe("a nameless box in a paragraph that holds its text is named by", () => {
  const namesOf = async (content: FakeNode) => {
    using got = await read(content)
    return nodesOf(got.root)
      .filter(({ role }) => role === "checkbox")
      .map(({ inferredName }) => inferredName)
  }
  for (const [text, names] of Object.entries({
    "* I agree": ["I agree"],
    "* Red * Green": ["Red", "Green"],
    "Color * Red * Green": ["Red", "Green"],
    "Red * Green *": ["Red", "Green"],
    "Active: *": ["Active:"],
    "* Red\n* Green": ["Red", "Green"],
    "Title\n*\nText": [undefined],
    "* Limit:": [undefined],
    "Pay: * Yearly": ["Yearly"],
    "1. * Milk": ["Milk"],
    "Monthly * Yearly": [undefined],
    "Rating * 1 * 2": [undefined, undefined],
    "Rating * 1": [undefined],
    "Poor * * Good": [undefined, undefined],
    "* * Title": [undefined, undefined],
  }))
    test(`the words behind it, or before it: ${JSON.stringify(text)}`, async () => {
      expect(await namesOf(paragraph(text, ...names.map(() => box)))).toEqual(names)
    })
})

test("the words behind another control do not name a box", async () => {
  for (const control of [{ role: "PUSH_BUTTON", name: "Go" } as const, field()]) {
    using got = await read(paragraph("Every * days *", control, box))
    expect(nodesOf(got.root).find(({ role }) => role === "checkbox")).not.toHaveProperty("inferredName")
  }
})

describe("text directly in a page", () => {
  const button = (name: string): FakeNode => ({ role: "PUSH_BUTTON", name, id: name })
  const page = (text: string, ...children: readonly FakeNode[]): FakeNode => ({
    role: "DOCUMENT_WEB",
    name: "Page",
    id: "page",
    interfaces: TEXT,
    text: text.replaceAll("*", "\ufffc"),
    children,
  })
  const contentOf = async (content: FakeNode) => {
    using got = await read(content)
    const found = nodesOf(got.root).findLast(({ role }) => role === "webarea")
    const texts = got.app.asked("page").filter((asked) => asked === "GetText").length
    return { children: found?.children.map(({ name }) => name), texts }
  }

  test("is a text between the children, one for each line", async () => {
    const { children } = await contentOf(page("Hello *, and * \n bye\n", button("one"), button("two")))
    expect(children).toEqual(["Hello", "one", ", and", "two", "bye"])
  })
  test("is read again, and gone once the page has another text", async () => {
    const changing: { -readonly [Key in keyof FakeNode]: FakeNode[Key] } = page("Hello *", button("one"))
    using got = await read(changing)
    const atspi = new Atspi(bus, Deadline.in(10_000))
    const line = nodesOf(got.root).find(({ name }) => name === "Hello")!
    expect(await readAgain(atspi, Element.of(line.handle))).toMatchObject({
      role: "statictext",
      name: "Hello",
    })
    changing.text = "Other \ufffc"
    expect(await readAgain(atspi, Element.of(line.handle))).toBeUndefined()
  })
  test("is a tree of its own, without the rest of the page", async () => {
    using got = await read(page("Hello *", button("one")))
    const line = nodesOf(got.root).find(({ name }) => name === "Hello")!
    const element = Element.of(line.handle)
    const window = { id: "w-1", title: "Window" }
    const { root } = await readTree(
      new Atspi(bus, Deadline.in(10_000)),
      { element, window, surface: "window" },
      OPTIONS,
    )
    expect(root).toMatchObject({ role: "statictext", name: "Hello", children: [] })
  })
  test("has no offsets: those of the page belong to other words", async () => {
    using got = await read(page("First line\nHello *", button("one")))
    const line = nodesOf(got.root).find(({ name }) => name === "Hello")!
    const atspi = new Atspi(bus, Deadline.in(10_000))
    expect(await openText(atspi, Element.of(line.handle))).toEqual({ missing: "org.a11y.atspi.Text" })
  })
  test("is not asked for if the page has only children", async () => {
    expect(await contentOf(page("**", button("one"), button("two")))).toEqual({
      children: ["one", "two"],
      texts: 0,
    })
  })
})

test.each([
  ["directly in the page", { ...paragraph("Hello *", box), role: "DOCUMENT_WEB", name: "Page" }, "checkbox"],
  ["around a nameless field", paragraph("City *", field()), "textfield"],
] as const)(
  "without an answer for the text %s, the tree has the rest, and is incomplete",
  async (_, content, role) => {
    using got = await read({ ...content, silent: ["GetText"] }, "Gecko", SHORT_MS)
    expect(nodesOf(got.root).map((node) => node.role)).toContain(role)
    expect(got.complete).toBe(false)
  },
)

test("text directly in a part of a page that its author named is the value of the part", async () => {
  const button: FakeNode = { role: "PUSH_BUTTON", name: "Bold", interfaces: TEXT, text: "Bold", id: "bold" }
  const toolbar: FakeNode = { ...paragraph("Style: *", button), role: "TOOL_BAR", name: "Format" }
  using got = await read(toolbar)
  const [found] = nodesOf(got.root).filter(({ role }) => role === "toolbar")
  expect(found).toMatchObject({ name: "Format", value: "Style: " })
  expect(got.app.asked("bold")).not.toContain("GetText")
})

test("a text has no marks behind its emoji", async () => {
  const marked = "A 🙂\ufeff and 👨\ufeff\u200d👩\ufeff, \ufeffb"
  using got = await read({ ...field("Note"), text: marked })
  const value = nodesOf(got.root).find(({ role }) => role === "textfield")?.value
  expect(value).toBe("A 🙂 and 👨\u200d👩, \ufeffb")
})

test("if all fields have names, a paragraph is asked for its text and children once", async () => {
  const count = (app: FakeApp, member: string) =>
    app.asked("paragraph").filter((asked) => asked === member).length
  using named = await read(paragraph("City *", field("City")))
  expect([count(named.app, "GetText"), count(named.app, "GetChildren")]).toEqual([1, 1])
  expect(named.app.asked("page")).not.toContain("GetText")
  using nameless = await read(paragraph("City *", field()))
  expect([count(nameless.app, "GetText"), count(nameless.app, "GetChildren")]).toEqual([2, 2])
})

test("words belong to a check box without a name before them, unless they end with a colon", () => {
  for (const [words, last, name] of [
    [" I agree ", { role: "checkbox" }, undefined],
    [" Limit: ", { role: "checkbox" }, "Limit:"],
    [" Limit ", { role: "checkbox", name: "On" }, "Limit"],
    [" Limit ", { role: "button" }, "Limit"],
    ["\nLimit ", { role: "checkbox" }, "Limit"],
    ["Limit\n", { role: "checkbox" }, undefined],
    ["Limit\n", { role: "heading" }, "Limit"],
    ["Limit\n", "start", "Limit"],
    ["Limit\n", undefined, undefined],
  ] as const)
    expect(wordsBefore(words, last)).toBe(name)
})
