import { describe, expect, test } from "bun:test"
import { differences, missingTexts, type Printed } from "./comparison.ts"
import type { Dump, Dumped } from "./expected.ts"

/** The comparison of the differential test must find every kind of difference. */

const node = (address: string, parent: string | null, role: string, more: Partial<Dumped> = {}): Dumped => ({
  address,
  parent,
  role,
  name: "",
  label: "",
  placeholder: "",
  text: "",
  description: "",
  actions: [],
  interfaces: ["Accessible", "Component"],
  states: ["enabled", "sensitive", "showing", "visible"],
  extents: [10, 20, 30, 40],
  ...more,
})

const DUMP: Dump = {
  pid: 1,
  toolkit: "gtk",
  nodes: [
    node(":1/w", null, "frame", { name: "Window" }),
    node(":1/b", ":1/w", "push button", { name: "Save" }),
    node(":1/c", ":1/w", "check box", { label: "Agree", states: ["checked", "sensitive", "showing"] }),
    node(":1/h", ":1/w", "push button", { name: "Hidden", states: ["enabled", "visible"] }),
    node(":1/p", ":1/w", "panel", { states: ["visible"] }),
    node(":1/i", ":1/p", "push button", { name: "In a hidden panel" }),
    node(":1/l", ":1/w", "label", { name: "Text" }),
  ],
}

const BOUNDS = { x: 10, y: 20, width: 30, height: 40 }
const SAVE: Printed = { address: ":1/b", role: "button", name: "Save", states: ["enabled"], bounds: BOUNDS }
const AGREE: Printed = {
  address: ":1/c",
  role: "checkbox",
  name: "Agree",
  states: ["enabled", "checked"],
  bounds: BOUNDS,
}

const judge = (...printed: readonly Printed[]) => differences(DUMP, printed, { x: 0, y: 0 })

describe("the comparison of a snapshot with a dump", () => {
  test("finds nothing if both agree", () => expect(judge(SAVE, AGREE)).toEqual([]))

  const cases: readonly (readonly [string, readonly Printed[], string])[] = [
    ["misses an element", [SAVE], "missing: checkbox"],
    ["shows an element that does not exist", [SAVE, AGREE, { ...SAVE, address: ":1/x" }], "invented:"],
    ["shows a hidden element", [SAVE, AGREE, { ...SAVE, address: ":1/h", name: "Hidden" }], "invented:"],
    ["shows an element inside a hidden one", [SAVE, AGREE, { ...SAVE, address: ":1/i" }], "invented:"],
    ["shows a text as interactive", [SAVE, AGREE, { ...SAVE, address: ":1/l", name: "Text" }], "invented:"],
    ["shows an element twice", [SAVE, SAVE, AGREE], "twice:"],
    ["has a wrong role", [{ ...SAVE, role: "link" }, AGREE], "role button"],
    ["has a wrong name", [{ ...SAVE, name: "Send" }, AGREE], "name Save"],
    ["misses a name from a label", [SAVE, { ...AGREE, name: undefined }], "name Agree"],
    ["has a wrong state", [SAVE, { ...AGREE, states: ["enabled", "unchecked"] }], "states checked,enabled"],
    [
      "has bounds that are two pixels off",
      [{ ...SAVE, bounds: { ...BOUNDS, x: 12 } }, AGREE],
      "bounds 10,20,30,40",
    ],
    ["has no bounds", [{ ...SAVE, bounds: undefined }, AGREE], "no bounds"],
  ]
  for (const [what, printed, sentence] of cases)
    test(`reports a snapshot that ${what}`, () =>
      expect(judge(...printed)).toContainEqual(expect.stringContaining(sentence)))

  test("reports a visible text that the snapshot does not have", () => {
    expect(missingTexts(DUMP, new Set(["Text"]))).toEqual([])
    expect(missingTexts(DUMP, new Set(["Save"]))).toEqual(["missing text: Text"])
  })

  test("ignores a difference of one pixel", () =>
    expect(judge({ ...SAVE, bounds: { ...BOUNDS, y: 21 } }, AGREE)).toEqual([]))
})
