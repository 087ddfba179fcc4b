import { expect, test } from "bun:test"
import { fuzzCells } from "./cells.ts"

test("cells that set-cells wrote are read back and saved as the answer says, and no other cell changes", async () => {
  const { figures, faults } = await fuzzCells({ seed: 3, blocks: 2, locale: "de-DE" })
  expect(faults).toEqual([])
  expect(figures.written).toBeGreaterThan(3)
}, 240_000)
