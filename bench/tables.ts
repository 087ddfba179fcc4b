import { parseArgs } from "node:util"
import { openDesktop, PROGRAM } from "../test/support/desktop.ts"
import { appNamed, settled, startApp } from "./apps.ts"
import { median, type Run, run, table } from "./measure.ts"

/**
 * Reads cells of LibreOffice Calc with the compiled program and with pyatspi, in turn. Our time is that of the whole
 * process. pyatspi's time is that of the cells only, without its start and its search for the sheet.
 */

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" } } })
const SIZES = [
  { rows: 40, columns: 6, wantedMs: 150 },
  { rows: 2000, columns: 5, wantedMs: 3000 },
] as const

await using desktop = await openDesktop()
const file = `${desktop.directory}/cells.csv`
await Bun.write(
  file,
  Array.from({ length: 2000 }, (_, row) =>
    Array.from({ length: 6 }, (_, column) => `r${row + 1}c${column + 1}`).join(","),
  ).join("\n"),
)
const { command, ...app } = appNamed("calc")
startApp(desktop, {
  ...app,
  command: (directory) => [...command(directory), "--infilter=CSV:44,34,76,1", file],
})
const ref = await settled(async () => {
  const { json } = await desktop.run("table", "--app", "soffice", "--range", "A1:B1")
  return json?.data?.rows[0]?.[0] === "r1c1" ? json.data.ref_id : undefined
})

const lines: string[][] = []
for (const { rows, columns, wantedMs } of SIZES) {
  const ours: Run[] = []
  const python: Run[] = []
  const range = `A1:${String.fromCharCode(64 + columns)}${rows}`
  for (let round = 0; round < Number(values.rounds); round++) {
    ours.push(await run(desktop, PROGRAM, "table", ref, "--range", range, "--timeout-ms", "60000"))
    const read: readonly (readonly string[])[] = JSON.parse(ours.at(-1)!.text).data.rows
    if (read.at(-1)?.at(-1) !== `r${rows}c${columns}`) throw new Error(`The end of ${range} is missing`)
    // pyatspi is slow, so measure it less often.
    if (round < 2)
      python.push(
        await run(
          desktop,
          "/usr/bin/python3",
          new URL("tables-pyatspi.py", import.meta.url).pathname,
          String(rows),
          String(columns),
        ),
      )
  }
  const ms = median(ours.map((one) => one.ms))
  const slow = median(python.map(({ inside }) => inside ?? 0))
  lines.push([
    `${rows} × ${columns}`,
    ms.toFixed(0),
    String(wantedMs),
    slow.toFixed(0),
    `${(slow / ms).toFixed(1)}×`,
  ])
}
console.log(table(["cells", "`table`, ms", "wanted", "pyatspi, ms", "pyatspi ÷ ours"], lines))
