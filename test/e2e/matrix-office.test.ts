import { expect, test } from "bun:test"
import { on } from "./matrix-cell.ts"
import { playMatrix } from "./matrix-play.ts"
import { type Printed, Stage } from "./matrix-stage.ts"

playMatrix("office")

test("office: an item of a context menu is clicked by its ref from the answer of right-click", async () => {
  await using stage = await Stage.open("office")
  const area = (await stage.look()).find(({ name }) => name === "Context area")
  const { json } = await stage.run("right-click", area?.ref_id ?? "", "--timeout-ms", "15000")
  const items: readonly Printed[] = json.data.menu.children
  const mark = await stage.mark()
  const copy = items.find(({ name }) => name === "Copy")
  expect((await stage.run("click", copy?.ref_id ?? "", "--timeout-ms", "15000")).json.ok).toBe(true)
  expect(await stage.seenSince(mark, [on("menu", "Copy")])).toEqual([on("menu", "Copy")])
})
