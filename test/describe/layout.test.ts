import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Handle, SeenNode } from "../../src/adapter.ts"
import { nameByLayout } from "../../src/describe/layout.ts"
import type { Rect, Role } from "../../src/node.ts"

/** Labels name fields by their places. A scene is a list of parts in any order, all children of one group. */

const handle = {} as Handle

const part = (role: Role, name: string | undefined, bounds: Rect | undefined): SeenNode => ({
  handle,
  role,
  name,
  states: [],
  bounds,
  children: [],
})
const at = (x: number, y: number, width = 100, height = 24): Rect => ({ x, y, width, height })
const label = (text: string, place: Rect): SeenNode => part("statictext", text, place)
const field = (place: Rect, role: Role = "textfield"): SeenNode => part(role, undefined, place)
const group = (...children: readonly SeenNode[]): SeenNode => ({
  ...part("group", undefined, undefined),
  children,
})
const window = (...children: readonly SeenNode[]): SeenNode => ({
  ...part("window", "Window", undefined),
  children,
})

const noPlace = (): undefined => undefined
const nodesOf = (node: SeenNode): SeenNode[] => [node, ...node.children.flatMap(nodesOf)]

/** Names of the nameless fields, in the order shown. */
async function namesIn(...parts: readonly SeenNode[]): Promise<readonly (string | undefined)[]> {
  const tree = await nameByLayout(window(group(...parts)), noPlace)
  return nodesOf(tree)
    .filter(({ role, name }) => (role === "textfield" || role === "combobox") && name === undefined)
    .map(({ inferredName }) => inferredName)
}

describe("a field is named by", () => {
  test("the label to its left", async () => {
    expect(await namesIn(label("City", at(0, 0)), field(at(110, 0)))).toEqual(["City"])
  })
  test("the label at its first line, or at its middle", async () => {
    for (const y of [2, 140])
      expect(await namesIn(label("City", at(0, y, 90, 20)), field(at(110, 0, 200, 300)))).toEqual(["City"])
  })
  test("a label that has its text inside", async () => {
    const around = { ...label("City", at(0, 0)), role: "label" as const, children: [label("City", at(0, 0))] }
    expect(await namesIn(around, field(at(110, 0)))).toEqual(["City"])
  })
  test("a group that shows its name as text, but not an empty frame that has it as title", async () => {
    const box = part("group", "City", at(0, 0, 300, 20))
    expect(await namesIn({ ...box, holdsText: true }, field(at(0, 24)))).toEqual(["City"])
    expect(await namesIn(box, field(at(0, 24)))).toEqual([undefined])
  })
  test("the text behind a check box, if the check box has a name or the text ends with a colon", async () => {
    for (const [box, text] of [
      ["Own name", "Limit"],
      [undefined, "Limit:"],
    ] as const) {
      const parts = [part("checkbox", box, at(0, 0, 16)), label(text, at(20, 0, 40)), field(at(70, 0))]
      expect(await namesIn(...parts)).toEqual([text])
    }
  })
  test("the title of the frame that it is alone in", async () => {
    const frame = {
      ...part("group", "City", at(0, 0, 300, 60)),
      children: [label("City", at(0, 0)), field(at(0, 28))],
    }
    expect(await namesIn(frame)).toEqual(["City"])
  })
  test("the label beside it, even if the field looks like a button that drops a list down", async () => {
    const scene = (isDropDown?: true) => [
      label("Column", at(0, 0)),
      { ...field(at(110, 0), "button"), ...(isDropDown ? { isDropDown } : {}) },
    ]
    for (const isDropDown of [true, undefined] as const) {
      const tree = await nameByLayout(window(group(...scene(isDropDown))), noPlace)
      const button = nodesOf(tree).find(({ role }) => role === "button")
      expect(button?.inferredName).toBe(isDropDown && "Column")
    }
  })
  test("the label above it", async () => {
    expect(await namesIn(label("City", at(0, 0)), field(at(0, 28, 300)))).toEqual(["City"])
  })
  test("the label to its right, in a language written from right to left", async () => {
    expect(await namesIn(label("עיר", at(310, 0)), field(at(0, 0, 300)))).toEqual(["עיר"])
  })
  test("the label in the box around it", async () => {
    const tree = window(group(label("Column", at(0, 0)), group(field(at(110, 2, 200, 20), "combobox"))))
    expect(
      nodesOf(await nameByLayout(tree, noPlace)).find(({ role }) => role === "combobox")?.inferredName,
    ).toBe("Column")
  })
  test("a label whose position has to be requested", async () => {
    const unplaced = part("statictext", "City", undefined)
    const tree = await nameByLayout(window(group(unplaced, field(at(110, 0)))), () => at(0, 0))
    expect(nodesOf(tree).at(-1)?.inferredName).toBe("City")
  })
})

describe("a field stays nameless", () => {
  const cases: Readonly<Record<string, readonly SeenNode[]>> = {
    "beside a frame, whose title names the frame": [
      { ...part("group", "Ridge", at(0, 100, 175, 121)), children: [label("Ridge", at(0, 100, 44, 17))] },
      field(at(200, 0, 270, 235)),
    ],
    "behind a line": [
      label("City", at(0, 0)),
      part("separator", undefined, at(105, -50, 1, 200)),
      field(at(110, 0)),
    ],
    "of many lines, with a text beside one of them": [
      label("City", at(0, 60, 90, 20)),
      field(at(110, 0, 200, 300)),
    ],
    "behind the text of a check box": [
      part("checkbox", undefined, at(0, 0, 16)),
      label("I agree", at(20, 0, 60)),
      field(at(90, 0)),
    ],
    "with a unit behind it": [field(at(0, 0)), label("pixels", at(110, 0))],
    "if another control is between it and the label": [
      label("Size", at(0, 0)),
      part("textfield", "Width", at(110, 0)),
      field(at(220, 0)),
    ],
    "if the label is about the control to its right": [
      label("Name", at(0, 0)),
      part("checkbox", "Known", at(110, 0)),
      field(at(0, 28, 300)),
    ],
    "below a label that is not at its edge": [label("Options", at(60, 0)), field(at(0, 28, 300))],
    "far below a label": [label("Heading", at(0, 0)), field(at(0, 80, 300))],
    "behind a sign between two fields": [
      part("textfield", "Width", at(0, 0)),
      label("x", at(105, 0, 10)),
      field(at(120, 0)),
    ],
    "beside a whole paragraph": [label("long words ".repeat(20), at(0, 0, 300)), field(at(310, 0))],
    "with two labels above it that are equally near": [
      label("One", at(0, 0, 40)),
      label("Two", at(8, 0, 40)),
      field(at(4, 28, 300)),
    ],
  }
  for (const [title, parts] of Object.entries(cases))
    test(title, async () => expect(await namesIn(...parts)).toEqual([undefined]))

  test("and nothing is asked if all fields have names", async () => {
    let asked = 0
    const tree = window(group(label("City", at(0, 0)), part("textfield", "City", at(110, 0))))
    const same = await nameByLayout(tree, () => {
      asked++
      return undefined
    })
    expect([same === tree, asked]).toEqual([true, 0])
  })
})

test("two columns of fields keep their own labels", async () => {
  const parts = [
    label("First", at(0, 0, 60)),
    field(at(70, 0)),
    label("Second", at(200, 0, 60)),
    field(at(270, 0)),
    label("Third", at(0, 30, 60)),
    field(at(70, 30)),
    label("Fourth", at(200, 30, 60)),
    field(at(270, 30)),
  ]
  expect(await namesIn(...parts)).toEqual(["First", "Second", "Third", "Fourth"])
})

test("the fields of a form are named and read line by line, in any order of the toolkit", async () => {
  const form = fc
    .record({
      rows: fc.array(
        fc.record({ wide: fc.integer({ min: 20, max: 180 }), high: fc.integer({ min: 16, max: 40 }) }),
        {
          minLength: 1,
          maxLength: 8,
        },
      ),
      isAbove: fc.boolean(),
      seed: fc.integer(),
    })
    .map(({ rows, isAbove, seed }) => {
      let y = 0
      const lines = rows.map(({ wide, high }, i) => {
        const top = y
        y += isAbove ? high + 60 : high + 8
        const text = label(`Label ${i}`, at(0, top, wide, isAbove ? 18 : high))
        return [text, field(isAbove ? at(0, top + 20, 300, high) : at(190, top, 300, high))]
      })
      // Any order, but the same for the same seed.
      const shuffled = lines
        .flat()
        .map((node, i) => ({ node, key: Bun.hash.xxHash32(`${seed} ${i}`) }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ node }) => node)
      return { shuffled, names: rows.map((_, i) => `Label ${i}`) }
    })
  await fc.assert(
    fc.asyncProperty(form, async ({ shuffled, names }) => {
      expect(await namesIn(...shuffled)).toEqual(names)
    }),
    { numRuns: 200 },
  )
})

test("a label never names two fields, and nothing else about a tree changes", async () => {
  const place = fc.record({
    x: fc.integer({ min: 0, max: 400 }),
    y: fc.integer({ min: 0, max: 300 }),
    width: fc.integer({ min: 1, max: 200 }),
    height: fc.integer({ min: 1, max: 60 }),
  })
  const any = fc.oneof(
    fc.tuple(fc.constantFrom("One", "Two", "Three", "Four"), place).map(([text, rect]) => label(text, rect)),
    place.map((rect) => field(rect)),
    place.map((rect) => part("button", "Press", rect)),
  )
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(any, { maxLength: 8 }), async (parts) => {
      const tree = await nameByLayout(window(group(...parts)), noPlace)
      const named = nodesOf(tree).filter(({ inferredName }) => inferredName !== undefined)
      expect(named.length).toBeLessThanOrEqual(parts.filter(({ role }) => role === "statictext").length)
      const plain = nodesOf(tree).map(({ inferredName: _, children: __, ...rest }) => JSON.stringify(rest))
      const before = nodesOf(window(group(...parts))).map(({ children: _, ...rest }) => JSON.stringify(rest))
      expect(plain.toSorted()).toEqual(before.toSorted())
    }),
    { numRuns: 300 },
  )
})

describe("fields that are scrolled out of view", () => {
  const offscreen = (node: SeenNode): SeenNode => ({ ...node, states: ["offscreen"] })
  const lines = (count: number, from: number, change: (node: SeenNode) => SeenNode): SeenNode[] =>
    Array.from({ length: count }, (_, line) => (from + line) * 30).flatMap((y) => [
      change(label(`Label ${y}`, at(0, y))),
      change(field(at(110, y))),
    ])

  test("have names like those in view", async () => {
    expect(await namesIn(...lines(1, 0, (node) => node), ...lines(1, 1, offscreen))).toEqual([
      "Label 0",
      "Label 30",
    ])
  })
  test("have none if they are too many, while those in view keep theirs", async () => {
    const names = await namesIn(...lines(2, 0, (node) => node), ...lines(300, 2, offscreen))
    expect(names.filter(Boolean)).toEqual(["Label 0", "Label 30"])
  })
})

describe("a box to check is named by", () => {
  const box = (x: number, role: Role = "checkbox"): SeenNode => part(role, undefined, at(x, 4, 16, 16))
  /** The inferred names of the boxes. */
  async function boxesIn(...parts: readonly SeenNode[]): Promise<readonly (string | undefined)[]> {
    const tree = await nameByLayout(window(group(...parts)), noPlace)
    return nodesOf(tree)
      .filter(({ role }) => role === "checkbox" || role === "radiobutton" || role === "switch")
      .map(({ inferredName }) => inferredName)
  }

  test("the text behind it, even a sentence", async () => {
    const sentence = "I have read the terms of this shop, and agree to them and to all later ones"
    for (const text of ["I agree", sentence])
      expect(await boxesIn(box(0), label(text, at(22, 0, 500)))).toEqual([text])
  })
  test("the text behind it, in a line of several", async () => {
    const line = [
      box(60, "radiobutton"),
      label("Red", at(80, 0, 30)),
      box(120),
      label("Green", at(140, 0, 50)),
    ]
    expect(await boxesIn(...line)).toEqual(["Red", "Green"])
    expect(await boxesIn(label("Color", at(0, 0, 50)), ...line)).toEqual(["Red", "Green"])
  })
  test("the text before it, in a line that ends with a box", async () => {
    const line = [label("Red", at(0, 0, 30)), box(40), label("Green", at(60, 0, 50)), box(120)]
    expect(await boxesIn(...line)).toEqual(["Red", "Green"])
    expect(await boxesIn(label("Active:", at(0, 0, 50)), box(200))).toEqual(["Active:"])
  })
  test("the text before it if it is a switch, or else the one behind it", async () => {
    const [wifi, off] = [label("Wi-Fi", at(0, 0, 50)), label("Off", at(120, 0, 30))]
    expect(await boxesIn(wifi, box(100, "switch"), off)).toEqual(["Wi-Fi"])
    expect(await boxesIn(box(100, "switch"), off)).toEqual(["Off"])
  })
  test("the text to its left, in a language written from right to left", async () => {
    expect(await boxesIn(box(100), label("עיר", at(0, 0, 95)))).toEqual(["עיר"])
  })
  test("nothing if the text ends with a colon, is far behind it or above it, or is that of another box", async () => {
    expect(await boxesIn(box(0), label("Limit:", at(22, 0, 40)), field(at(70, 0)))).toEqual([undefined])
    expect(await boxesIn(box(0), label("Far", at(60, 0)))).toEqual([undefined])
    expect(await boxesIn(label("Title", at(0, -22, 60, 20)), box(0))).toEqual([undefined])
    expect(await boxesIn(box(0), label("Red", at(20, 0, 30)), box(60))).toEqual(["Red", undefined])
  })
  test("nothing if it is close to a text on either side, and may belong to both", async () => {
    const [month, year] = [label("Monthly", at(0, 0, 60)), label("Yearly", at(90, 0, 50))]
    for (const role of ["checkbox", "switch"] as const)
      expect(await boxesIn(month, box(70, role), year)).toEqual([undefined])
    expect(await boxesIn(label("Pay:", at(0, 0, 60)), box(70), year)).toEqual(["Yearly"])
  })
  test("nothing in a row of boxes without texts between them", async () => {
    const row = [box(100, "radiobutton"), box(160, "radiobutton"), box(220, "radiobutton")]
    expect(await boxesIn(label("Tired?", at(0, 0, 60)), ...row)).toEqual([undefined, undefined, undefined])
    const numbers = row.map((_, at_) => label(String(at_ + 1), at(118 + 60 * at_, 0, 10)))
    const rating = [label("Rating", at(40, 0, 50)), ...row, ...numbers]
    expect(await boxesIn(...rating)).toEqual([undefined, undefined, undefined])
    expect(await boxesIn(box(0), box(20), label("Title", at(40, 0, 60)))).toEqual([undefined, undefined])
  })
  test("nothing if a number is behind it, or if the text before it belongs to a control before that text", async () => {
    const size = label("Size", at(0, 0, 40))
    expect(await boxesIn(size, box(50), label("1", at(70, 0, 10)))).toEqual([undefined])
    expect(await boxesIn(field(at(0, 0, 40)), label("days", at(45, 0, 35)), box(90))).toEqual([undefined])
    const link = part("link", "terms", at(0, 0, 40))
    expect(await boxesIn(link, label("and tick", at(45, 0, 60)), box(110))).toEqual([undefined])
  })
})
