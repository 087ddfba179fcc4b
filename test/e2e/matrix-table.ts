import type { Toolkit } from "../fixtures/fixture.ts"
import { type Cell, titleOf, type Want, wanted } from "./matrix-cell.ts"
import { CELLS } from "./matrix-cells.ts"

/** The toolkits in the order of the table, and what people call them. */
export const COLUMNS: readonly (readonly [Toolkit, string])[] = [
  ["gtk3", "GTK 3"],
  ["gtk4", "GTK 4"],
  ["qt5", "Qt 5"],
  ["qt6", "Qt 6"],
  ["web", "Chromium"],
  ["office", "LibreOffice"],
]

/** All cells as a table; those that `failed` names, by toolkit and title, are marked. */
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

export const actionsPage = (): string =>
  `${[
    "<!-- Written by scripts/docs.ts from the cells of the matrix, each of which is a test. Do not edit. -->",
    "# What works where",
    "Every acting command on one of every control, in an application of each toolkit that writes down itself what happens to it. A cell holds when that log shows the effect, exactly once and nothing besides, the pointer stayed where it was unless it was needed, and the result said what happened. `bun run matrix` tries all of them and prints this table; the tests of each toolkit fail where a cell is not true.",
    `| Cell | means |\n|---|---|\n${LEGEND.map(([term, meaning]) => `| ${term} | ${meaning} |`).join("\n")}`,
    "Measured with GTK 3.24, GTK 4.8, Qt 5.15, Qt 6.4, Chromium and a dialog of a macro in LibreOffice 7.4 on X11. Without `--input` it is `auto`: the accessibility route first.",
    matrixTable(),
  ].join("\n\n")}\n`

const LEGEND = [
  ["accessibility", "by the toolkit's own action, text, value or selection: no pointer, no keys"],
  [
    "pointer, keyboard, wheel",
    "by synthesised input, where the element offers no other way or it was asked for",
  ],
  ["✓", "the effect was seen: `delivered_verified`"],
  ["nothing", "it was so already: `not_delivered`, and no error"],
  [
    "`CODE` kind",
    "the error's code and its `details.kind`; nothing was delivered, except where it is `contradicted`",
  ],
  ["– why", "the toolkit has no such control"],
] as const

function command({ command, args = [], input }: Cell): string {
  const given = args.map((arg) => (/^[@#]/.test(arg) ? (arg.startsWith("@") ? "REF" : "X,Y") : quoted(arg)))
  return `\`${[command, ...given, ...(input ? ["--input", input] : [])].join(" ")}\``
}

const quoted = (arg: string): string => (/^[\w+-]+$/.test(arg) ? arg : JSON.stringify(arg))

const control = ({ on, role, about }: Cell): string => about ?? (role ? `${on}, a ${role}` : on)

function words(want: Want): string {
  if ("absent" in want) return `– ${want.absent}`
  if ("code" in want) return `\`${want.code}\`${want.kind ? ` ${want.kind.replaceAll("_", " ")}` : ""}`
  return `${want.how}${want.proof === "verified" ? " ✓" : ""}`
}
