import { describe, expect, test } from "bun:test"
import { differences, missingTexts, type Printed } from "./comparison.ts"
import type { Dump, Dumped } from "./expected.ts"

/** The judge of the differential test must itself be able to say no. */

const node = (address: string, parent: string | null, role: string, more: Partial<Dumped> = {}): Dumped => ({
  address,
  parent,
  role,
  name: "",
  label: "",
  placeholder: "",
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
  test("finds nothing where both say the same", () => expect(judge(SAVE, AGREE)).toEqual([]))

  const cases: readonly (readonly [string, readonly Printed[], string])[] = [
    ["misses an element", [SAVE], "missing: checkbox"],
    ["sees one that is made up", [SAVE, AGREE, { ...SAVE, address: ":1/x" }], "invented:"],
    ["sees one that is hidden", [SAVE, AGREE, { ...SAVE, address: ":1/h", name: "Hidden" }], "invented:"],
    ["sees one within what is hidden", [SAVE, AGREE, { ...SAVE, address: ":1/i" }], "invented:"],
    ["sees structure as interactive", [SAVE, AGREE, { ...SAVE, address: ":1/l", name: "Text" }], "invented:"],
    ["sees one twice", [SAVE, SAVE, AGREE], "twice:"],
    ["reads another role", [{ ...SAVE, role: "link" }, AGREE], "role button"],
    ["reads another name", [{ ...SAVE, name: "Send" }, AGREE], "name Save"],
    ["loses a label", [SAVE, { ...AGREE, name: undefined }], "name Agree"],
    ["reads another state", [SAVE, { ...AGREE, states: ["enabled", "unchecked"] }], "states checked,enabled"],
    ["is two pixels off", [{ ...SAVE, bounds: { ...BOUNDS, x: 12 } }, AGREE], "bounds 10,20,30,40"],
    ["has no bounds", [{ ...SAVE, bounds: undefined }, AGREE], "no bounds"],
  ]
  for (const [what, printed, sentence] of cases)
    test(`tells when the snapshot ${what}`, () =>
      expect(judge(...printed)).toContainEqual(expect.stringContaining(sentence)))

  test("tells when a text that shows is nowhere", () => {
    expect(missingTexts(DUMP, new Set(["Text"]))).toEqual([])
    expect(missingTexts(DUMP, new Set(["Save"]))).toEqual(["missing text: Text"])
  })

  test("takes one pixel for rounding", () =>
    expect(judge({ ...SAVE, bounds: { ...BOUNDS, y: 21 } }, AGREE)).toEqual([]))
})
