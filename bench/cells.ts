import { fuzzCells, LOCALES } from "../test/fuzz/cells.ts"
import { fuzzTexts, TEXT_KINDS } from "../test/fuzz/texts.ts"

/**
 * Writes random blocks of cells into LibreOffice Calc in several locales, and compares what `table` reads with the saved
 * workbook. Then selects and types at random places of texts in Mousepad and Writer, and compares the saved files.
 *
 *   bun bench/cells.ts [--seed N] [--blocks N] [--steps N]
 *
 * A fault is printed with its seed, its block and its locale; the same seed repeats it.
 */

const option = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at > 0 ? Number(process.argv[at + 1]) : otherwise
}

const seed = option("seed", Date.now() % 1_000_000)
let faults = 0
for (const locale of LOCALES) {
  const report = await fuzzCells({ seed, blocks: option("blocks", 20), locale })
  for (const fault of report.faults) console.log(fault)
  faults += report.faults.length
  const { written, differences, refused } = report.figures
  console.log(
    `seed ${seed}, ${locale}: ${written} cells have the written text, ${differences} differ and were reported, ${refused} blocks refused, ${report.faults.length} faults`,
  )
}
for (const kind of TEXT_KINDS) {
  const steps = option("steps", 20)
  const { done, unread, start, wanted, saved } = await fuzzTexts({ seed, steps, kind })
  const isRight = unread === start && saved === wanted
  console.log(
    `seed ${seed}, ${kind}: ${steps} steps, ${isRight ? "saved correctly" : JSON.stringify({ done, wanted, saved })}`,
  )
  if (!isRight) faults++
}
process.exitCode = faults > 0 ? 1 : 0
