import { join } from "node:path"

/**
 * Runs the tests on compositors that are too heavy for every check, on desktops without a screen:
 *
 *   bun run compositors [kwin|gnome|gnome-extension|phoc|sway-xwayland]…
 *
 * Installs missing packages. The last line for each compositor is a row for the table in docs/wayland.md.
 */

const root = join(import.meta.dir, "..")
const bun = process.execPath

/** A file in test/compositors, and the package whose version the table shows. */
const COMPOSITORS: Readonly<Record<string, { readonly name: string; readonly package: string }>> = {
  kwin: { name: "KWin", package: "kwin-wayland" },
  gnome: { name: "GNOME Shell", package: "gnome-shell" },
  "gnome-extension": { name: "GNOME Shell with the extension", package: "gnome-shell" },
  phoc: { name: "phoc", package: "phoc" },
  "sway-xwayland": { name: "sway with Xwayland", package: "sway" },
}

const given = process.argv.slice(2)
const unknown = given.find((name) => !Object.hasOwn(COMPOSITORS, name))
if (unknown !== undefined) {
  console.error(`'${unknown}' is not one of ${Object.keys(COMPOSITORS).join(", ")}`)
  process.exit(2)
}
if (!run([bun, "scripts/setup.ts", "--for", "compositors"]).success || !run([bun, "build.ts"]).success)
  process.exit(1)

const rows: string[] = []
for (const [file, { name, package: source }] of Object.entries(COMPOSITORS)) {
  if (given.length > 0 && !given.includes(file)) continue
  const { success, stderr } = run(
    [bun, "test", "--timeout", "120000", `./test/compositors/${file}.ts`],
    "pipe",
  )
  const output = stderr?.toString() ?? ""
  if (!success) {
    console.log(output)
    process.exitCode = 1
  }
  const count = (word: string): number =>
    Number(new RegExp(`^\\s*(\\d+) ${word}$`, "m").exec(output)?.[1] ?? 0)
  const date = new Date().toISOString().slice(0, 10)
  rows.push(`| ${name} ${versionOf(source)} | ${count("pass")} passed, ${count("fail")} failed | ${date} |`)
}
console.log(rows.join("\n"))

function versionOf(name: string): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is dpkg's own format
  const { stdout } = Bun.spawnSync(["dpkg-query", "-W", "-f", "${Version}", name], { stderr: "ignore" })
  return /(?:\d+:)?([\d.]+)/.exec(stdout.toString())?.[1] ?? "of an unknown version"
}

function run(command: readonly string[], stderr: "inherit" | "pipe" = "inherit"): Bun.SyncSubprocess {
  return Bun.spawnSync([...command], { cwd: root, stdin: "ignore", stdout: "inherit", stderr })
}
