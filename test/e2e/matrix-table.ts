import type { Toolkit } from "../fixtures/fixture.ts"
import { type Cell, titleOf, type Want, wanted } from "./matrix-cell.ts"
import { CELLS } from "./matrix-cells.ts"

/** The toolkits in the order of the table, with their usual names. */
export const COLUMNS: readonly (readonly [Toolkit, string])[] = [
  ["gtk3", "GTK 3"],
  ["gtk4", "GTK 4"],
  ["qt5", "Qt 5"],
  ["qt6", "Qt 6"],
  ["web", "Chromium"],
  ["office", "LibreOffice"],
]

/** All cells as a table. Cells that `failed` names, by toolkit and title, are marked. */
export function matrixTable(failed: ReadonlySet<string> = new Set()): string {
  const rows = CELLS.map((cell) => [
    command(cell),
    control(cell),
    ...COLUMNS.map(([toolkit]) => {
      const mark = failed.has(`${toolkit}: ${titleOf(cell, toolkit)}`) ? "✗ " : ""
      return `${mark}${words(wanted(cell, toolkit))}`
    }),
  ])
  const head = ["Command", "Control", ...COLUMNS.map(([, name]) => name)]
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
}

/** The number of cells that are tested: those for which the toolkit has such a control. */
export const cellCount = COLUMNS.flatMap(([toolkit]) =>
  CELLS.filter((cell) => !("absent" in wanted(cell, toolkit))),
).length

export const actionsPage = (): string =>
  `${[
    "<!-- Written by scripts/docs.ts from the cells of the matrix, each of which is a test. Do not edit. -->",
    "# What works where",
    `The table shows every acting command on one of every control: ${cellCount} cells in ${COLUMNS.length} toolkits. Each toolkit has a test app that logs what happens to it. A cell is true if the log shows the effect exactly once and nothing else, the pointer stayed in place unless it was needed, and the result said what happened. \`bun run matrix\` tries all cells and prints this table. The tests of a toolkit fail if one of its cells is not true.`,
    `| Cell | Meaning |\n|---|---|\n${LEGEND.map(([term, meaning]) => `| ${term} | ${meaning} |`).join("\n")}`,
    "Measured with GTK 3.24, GTK 4.8, Qt 5.15, Qt 6.4, Chromium and a dialog of a macro in LibreOffice 7.4 on X11. Without `--input` the mode is `auto`: it tries the accessibility route first.",
    matrixTable(),
  ].join("\n\n")}\n`

const LEGEND = [
  ["accessibility", "the toolkit's own action, text, value or selection: no pointer, no keys"],
  [
    "pointer, keyboard, wheel",
    "synthesised input, if the element offers no other way that its app notices, or `--input physical` asks for it",
  ],
  ["✓", "the effect was seen: `delivered_verified`"],
  ["nothing", "the control was already in that state: `not_delivered`, and no error"],
  [
    "`CODE` kind",
    "the error's code and its `details.kind`; nothing was delivered, unless the kind is `contradicted`",
  ],
  ["– why", "the toolkit has no such control; the text says why"],
] as const

function command({ command, args = [], input }: Cell): string {
  const given = args.map((arg) => (/^[@#]/.test(arg) ? (arg.startsWith("@") ? "REF" : "X,Y") : quoted(arg)))
  return `\`${[command, ...given, ...(input ? ["--input", input] : [])].join(" ")}\``
}

const quoted = (arg: string): string => (/^[\w+-]+$/.test(arg) ? arg : JSON.stringify(arg))

const control = ({ on, role, about }: Cell): string =>
  about ?? (role ? `${on}, ${/^[aeio]/.test(role) ? "an" : "a"} ${role}` : on)

function words(want: Want): string {
  if ("absent" in want) return `– ${want.absent}`
  if ("code" in want) return `\`${want.code}\`${want.kind ? ` ${want.kind.replaceAll("_", " ")}` : ""}`
  return `${want.how}${want.proof === "verified" ? " ✓" : ""}`
}
