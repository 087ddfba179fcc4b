import { join } from "node:path"
import { dependencies, engines } from "../package.json"
import { fillIn, template } from "./template.ts"

/** Writes the licenses of everything that a package of ours contains besides our own code. */

const root = join(import.meta.dir, "..")

export async function notices(): Promise<string> {
  const packages = await bundledPackages()
  const own = await Bun.file(join(root, "LICENSE")).text()
  const [bun, ...texts] = await Promise.all(
    ["bun", "MIT", "BSD", "zlib", "LGPL-2.0", "LGPL-2.1"].map((name) => template(`licenses/${name}.txt`)),
  )
  const names = ["MIT", "BSD 2-Clause and BSD 3-Clause", "zlib", "LGPL-2.0", "LGPL-2.1"]
  // Packages of one project share a text.
  const licenses = Map.groupBy(packages, ({ license }) => license)
  return [
    "Third-party notices of agent-desktop\n\nagent-desktop itself is licensed under the Apache License 2.0.\n",
    ...[...licenses].map(([text, those]) => section(those.map(titleOf).join(", "), text)),
    section("Bun", fillIn(bun!, { bun: engines.bun })),
    ...texts.map((text, i) => section(`The text of the license ${names[i]}`, text)),
    section("The text of the license Apache-2.0", own),
  ].join("\n")
}

const LINE = "=".repeat(80)

const section = (title: string, text: string): string => `${LINE}\n${title}\n${LINE}\n\n${text.trim()}\n`

const titleOf = ({ name, version }: Package): string => `${name} ${version}`

interface Package {
  readonly name: string
  readonly version: string
  readonly license: string
}

/** The packages of `dependencies`, and the packages that those need. */
export async function bundledPackages(): Promise<readonly Package[]> {
  const found = new Map<string, Package>()
  const add = async (name: string): Promise<void> => {
    if (found.has(name)) return
    const directory = join(root, "node_modules", name)
    const about = await Bun.file(join(directory, "package.json")).json()
    found.set(name, { name, version: about.version, license: await licenseIn(directory) })
    for (const needed of Object.keys(about.dependencies ?? {})) await add(needed)
  }
  for (const name of Object.keys(dependencies)) await add(name)
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function licenseIn(directory: string): Promise<string> {
  for (const name of ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"]) {
    const file = Bun.file(join(directory, name))
    if (await file.exists()) return file.text()
  }
  throw new Error(`${directory} has no license file`)
}
