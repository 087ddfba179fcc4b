import { expect, test } from "bun:test"
import { openDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** A long table of GTK 3 with an icon before each text, as the list of files in Thunar. Such a cell has its text in a child. */

const ROWS = Array.from({ length: 400 }, (_, row) => [`File ${row + 1}`, `${row + 1} bytes`])

test("every row in view has its text in the tree, and the row that a text names is scrolled to", async () => {
  await using desktop = await openDesktop()
  const file = `${desktop.directory}/tables.json`
  await Bun.write(
    file,
    JSON.stringify([{ name: "Files", header: ["Name", "Size"], rows: ROWS, icons: true }]),
  )
  const script = new URL("../fixtures/tables.py", import.meta.url).pathname
  desktop.spawnApp(["/usr/bin/python3", script, "gtk3", file])
  const found = await until(async () => {
    const { json } = await desktop.run("find", "--name", "File", "--role", "cell")
    return json?.data?.matches?.length > 0 ? json.data.matches : undefined
  }, 60_000)
  expect(found.map(({ name }: { name: string }) => name)).toContain("File 2")
  const { json } = await desktop.run("click", 'cell "File 377"', "--timeout-ms", "30000")
  expect(json).toMatchObject({ ok: true, data: { element: { role: "cell", name: "File 377" } } })
  const selected = await desktop.run("is", json.data.ref_id, "selected")
  expect(selected.json?.data?.result).toBe(true)
}, 120_000)
