import { expect, test } from "bun:test"
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { version } from "../../package.json"
import { BUNDLE_NAME, bundle } from "../../scripts/bundle.ts"
import { BUNDLE_IDENTIFIER } from "../../src/macos/responsible.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { run, standInRelease } from "./stand-in-release.ts"
import { executable } from "./tiny-macho.ts"

/** A reader in Python, which shares no code with the signer, judges the bundle. */

const READER = join(import.meta.dir, "read-bundle.py")
const directory = temporaryForFile()

/** Unpacks the released bundle into a folder of its own. */
async function unpacked(name: string): Promise<string> {
  const out = await standInRelease(join(directory, name))
  const archive = `agent-desktop-app-${version}-darwin-arm64.tar.gz`
  expect(run(["tar", "-xzf", archive], out)).toMatchObject({ exitCode: 0, complaints: "" })
  return join(out, `${BUNDLE_NAME}.app`)
}

function read(app: string) {
  const { text, complaints } = run(["/usr/bin/python3", READER, app], directory)
  if (complaints) throw new Error(complaints)
  return JSON.parse(text)
}

test("the bundle's signature vouches for its executable, its Info.plist and every resource", async () => {
  const app = await unpacked("whole")
  expect(read(app)).toEqual({
    wrong: [],
    identifier: BUNDLE_IDENTIFIER,
    flags: 2,
    cpu: "arm64",
    pages: expect.any(Number),
    sealed: ["Resources/LICENSE", "Resources/README.md", "Resources/THIRD-PARTY-NOTICES.txt"],
    info: expect.objectContaining({
      CFBundleIdentifier: BUNDLE_IDENTIFIER,
      CFBundleExecutable: "agent-desktop",
      CFBundleName: BUNDLE_NAME,
      CFBundlePackageType: "APPL",
      CFBundleShortVersionString: version,
      LSMinimumSystemVersion: "13.0",
      // No Dock icon, no menu bar.
      LSUIElement: true,
    }),
  })
})

test("the reader notices every kind of change to a bundle", async () => {
  const app = await unpacked("changed")
  const contents = join(app, "Contents")
  const changes: readonly [what: string, change: () => void, undo: () => void, fault: string][] = [
    ["Info.plist", ...edit("Info.plist", (text) => text.replace("13.0", "14.0")), "Info.plist"],
    [
      "the list of resources",
      ...edit("_CodeSignature/CodeResources", (text) => `${text}\n`),
      "CodeResources",
    ],
    ["a resource", ...edit("Resources/LICENSE", (text) => `${text} `), "Resources/LICENSE (files2)"],
    [
      "the code",
      ...edit("MacOS/agent-desktop", (text) => `${text.slice(0, 5000)}x${text.slice(5001)}`),
      "page 1",
    ],
    [
      "a new file",
      () => writeFileSync(join(contents, "Resources/new"), ""),
      () => rmSync(join(contents, "Resources/new")),
      "Resources/new (files2)",
    ],
    [
      "a missing file",
      () => renameSync(join(contents, "Resources/README.md"), join(directory, "aside")),
      () => renameSync(join(directory, "aside"), join(contents, "Resources/README.md")),
      "Resources/README.md is missing",
    ],
    [
      "the mode",
      () => chmodSync(join(contents, "MacOS/agent-desktop"), 0o644),
      () => chmodSync(join(contents, "MacOS/agent-desktop"), 0o755),
      "the executable cannot be run",
    ],
  ]
  for (const [what, change, undo, fault] of changes) {
    change()
    expect({ what, wrong: read(app).wrong }).toEqual({ what, wrong: expect.arrayContaining([fault]) })
    undo()
  }
  expect(read(app).wrong).toEqual([])

  function edit(path: string, by: (text: string) => string): [() => void, () => void] {
    const file = join(contents, path)
    const before = readFileSync(file)
    return [
      () => writeFileSync(file, Buffer.from(by(before.toString("latin1")), "latin1")),
      () => writeFileSync(file, before),
    ]
  }
})

test("two builds of one executable give the same bytes, and the other processor's bundle is as valid", async () => {
  const documents = [{ path: "LICENSE", content: "free" }]
  for (const cpu of ["arm64", "x86_64"] as const) {
    const [one, two] = await Promise.all([1, 2].map(() => bundle(executable(cpu), version, documents)))
    expect(one).toEqual(two!)
    const binary = join(directory, cpu)
    writeFileSync(binary, executable(cpu))
    const script = join(import.meta.dir, "../../scripts/bundle.ts")
    // Twice into one place: it replaces the files.
    for (const time of [1, 2]) {
      const { text, complaints } = run([process.execPath, script, binary, `${binary}.d`], directory)
      expect({ time, complaints }).toEqual({ time, complaints: "" })
      expect(text.trim()).toBe(join(`${binary}.d`, `${BUNDLE_NAME}.app`))
      expect(read(text.trim())).toMatchObject({ wrong: [], cpu })
    }
  }
})

test("the version of a pre-release is only numbers in Info.plist, as macOS wants it", async () => {
  const [infoPlist] = await bundle(executable("arm64"), "1.2.0-rc.1", [])
  expect(infoPlist!.content).toContain("<string>1.2.0</string>")
  expect(infoPlist!.content).not.toContain("rc")
})
