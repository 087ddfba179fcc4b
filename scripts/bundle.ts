import { chmod, mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { version as current } from "../package.json"
import { BUNDLE_IDENTIFIER } from "../src/macos/responsible.ts"
import type { Entry } from "./archive.ts"
import { packagedReadme } from "./readme.ts"
import { sign, verify } from "./sign.ts"
import { fillIn, template } from "./template.ts"

/**
 * `Agent Desktop.app`: the same executable in a bundle, signed ad hoc. macOS adds bundles to its privacy lists more
 * readily than bare executables, and shows them with a name. A release contains it; for a build of your own:
 *
 *   bun scripts/bundle.ts BINARY DIRECTORY
 */

export const BUNDLE_NAME = "Agent Desktop"

/** Returns the files of the bundle. `documents` become its resources. The same input always gives the same bytes. */
export async function bundle(
  executable: Buffer,
  version: string,
  documents: readonly Entry[],
): Promise<readonly Entry[]> {
  const infoPlist = fillIn(await template("macos/Info.plist"), {
    name: BUNDLE_NAME,
    identifier: BUNDLE_IDENTIFIER,
    // macOS accepts numbers and dots only.
    version: version.replace(/[^\d.].*$/, ""),
  })
  const codeResources = await seal(documents)
  const bound = {
    identifier: BUNDLE_IDENTIFIER,
    bundle: { infoPlist: Buffer.from(infoPlist), codeResources: Buffer.from(codeResources) },
  }
  const signed = sign(executable, bound)
  verify(signed, bound)
  const contents: readonly Entry[] = [
    { path: "Info.plist", content: infoPlist },
    { path: "MacOS/agent-desktop", content: signed, isExecutable: true },
    ...documents.map(({ path, content }) => ({ path: `Resources/${path}`, content })),
    { path: "_CodeSignature/CodeResources", content: codeResources },
  ]
  return contents.map((entry) => ({ ...entry, path: `${BUNDLE_NAME}.app/Contents/${entry.path}` }))
}

/** The list of the resources with their hashes: SHA-1 for the format's first version, SHA-256 for the second. */
async function seal(documents: readonly Entry[]): Promise<string> {
  const files = documents.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const list = (describe: (content: Entry["content"]) => string) =>
    files.map(({ path, content }) => `\t\t<key>Resources/${path}</key>\n${describe(content)}`).join("")
  return fillIn(await template("macos/CodeResources"), {
    sha1: list((content) => `\t\t<data>${hash("sha1", content)}</data>\n`),
    sha256: list(
      (content) =>
        `\t\t<dict>\n\t\t\t<key>hash2</key>\n\t\t\t<data>${hash("sha256", content)}</data>\n\t\t</dict>\n`,
    ),
  })
}

const hash = (algorithm: "sha1" | "sha256", content: Entry["content"]): string =>
  new Bun.CryptoHasher(algorithm).update(content).digest("base64")

if (import.meta.main) {
  const [binary, directory] = Bun.argv.slice(2)
  if (!binary || !directory) throw new Error("Usage: bun scripts/bundle.ts BINARY DIRECTORY")
  const document = async (path: string) => {
    const text = await Bun.file(join(import.meta.dir, "..", path)).text()
    return { path, content: path === "README.md" ? packagedReadme(text) : text }
  }
  const documents = await Promise.all(["LICENSE", "THIRD-PARTY-NOTICES.txt", "README.md"].map(document))
  const executable = Buffer.from(await Bun.file(binary).arrayBuffer())
  for (const { path, content, isExecutable } of await bundle(executable, current, documents)) {
    const file = join(directory, path)
    await mkdir(dirname(file), { recursive: true })
    // A new file, because macOS caches the signature of a file that it has run.
    await Bun.file(file)
      .delete()
      .catch(() => undefined)
    await Bun.write(file, content)
    await chmod(file, isExecutable ? 0o755 : 0o644)
  }
  console.log(join(directory, `${BUNDLE_NAME}.app`))
}
