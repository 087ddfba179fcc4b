import { expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { TARGETS } from "../../build.ts"
import { engines, version } from "../../package.json"
import { temporaryForFile } from "../support/temporary.ts"
import { run, standInRelease } from "./stand-in-release.ts"

/** The licenses of everything that a release contains, and the list of its files as it is signed. */

const root = join(import.meta.dir, "../..")
const notices = readFileSync(join(root, "THIRD-PARTY-NOTICES.txt"), "utf8")
const directory = temporaryForFile()
const out = await standInRelease(directory)

test("the notices name every package whose code is in the program, with its version and its license", async () => {
  const entry = join(root, "src/main.ts")
  const built = await Bun.build({
    entrypoints: [entry],
    target: "bun",
    splitting: true,
    sourcemap: "external",
  })
  const maps = await Promise.all(
    built.outputs.filter(({ kind }) => kind === "sourcemap").map((map) => map.json()),
  )
  const sources: readonly string[] = maps.flatMap((map) => map.sources)
  const inside = new Set(
    sources.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  )

  expect([...inside].sort()).toContain("valibot")
  for (const name of inside) {
    const about = await Bun.file(join(root, "node_modules", name, "package.json")).json()
    expect(notices).toMatch(new RegExp(`^(.*, )?${name} ${about.version}(,|$)`, "m"))
  }
})

test("the notices name Bun and its parts, explain how to link it again, and contain the licenses", () => {
  expect(notices).toContain(`Bun ${engines.bun}`)
  for (const part of ["JavaScriptCore", "boringssl", "mimalloc", "libarchive", "tinycc", "ICU", "zstd"])
    expect(notices).toContain(part)
  for (const text of [
    "GNU LIBRARY GENERAL PUBLIC LICENSE",
    "GNU LESSER GENERAL PUBLIC LICENSE",
    "Permission is hereby granted, free of charge",
    "Redistributions in binary form must reproduce",
    "Altered source versions must be plainly marked",
    "END OF TERMS AND CONDITIONS",
  ])
    expect(notices).toContain(text)
})

test("every archive and every npm package has the notices", () => {
  const inArchive = (name: string, member: string) => run(["tar", "-xzOf", name, member], out).text
  for (const target of TARGETS) {
    const folder = `agent-desktop-${version}`
    expect(inArchive(`${folder}-${target}.tar.gz`, `${folder}/THIRD-PARTY-NOTICES.txt`)).toBe(notices)
    expect(inArchive(`npm-agent-desktop-${target}-${version}.tgz`, "package/THIRD-PARTY-NOTICES.txt")).toBe(
      notices,
    )
  }
  expect(inArchive(`npm-agent-desktop-${version}.tgz`, "package/THIRD-PARTY-NOTICES.txt")).toBe(notices)
})

test.skipIf(!Bun.which("dpkg-deb"))("the Debian packages have the notices, and say so", () => {
  for (const architecture of ["amd64", "arm64"]) {
    const place = join(directory, architecture)
    run(["dpkg-deb", "--extract", `agent-desktop_${version}_${architecture}.deb`, place], out)
    const documents = join(place, "usr/share/doc/agent-desktop")
    expect(run(["gzip", "-dc", join(documents, "THIRD-PARTY-NOTICES.gz")], out).text).toBe(notices)
    const copyright = readFileSync(join(documents, "copyright"), "utf8")
    for (const word of ["LGPL-2", "JavaScriptCore", "THIRD-PARTY-NOTICES.gz"])
      expect(copyright).toContain(word)
  }
})

test("'licenses' prints the notices", () => {
  expect(run([process.execPath, join(root, "src/main.ts"), "licenses"], directory)).toMatchObject({
    text: notices,
    complaints: "",
    exitCode: 0,
  })
})

test.skipIf(!Bun.which("ssh-keygen"))("SHA256SUMS can be signed and verified as RELEASING.md says", () => {
  const key = join(directory, "key")
  run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], out)
  const [type, material] = readFileSync(`${key}.pub`, "utf8").split(" ")
  writeFileSync(join(directory, "allowed_signers"), `release@example.org ${type} ${material}\n`)
  const page = readFileSync(join(root, "RELEASING.md"), "utf8")
  const shell = (line: string) => {
    expect(page).toContain(line)
    const filled = line.replace("KEY", key).replace("allowed_signers", join(directory, "allowed_signers"))
    return run(["sh", "-c", filled.replace("SIGNER", "release@example.org")], out)
  }

  expect(shell("ssh-keygen -Y sign -f KEY -n agent-desktop SHA256SUMS").exitCode).toBe(0)
  expect(existsSync(join(out, "SHA256SUMS.sig"))).toBe(true)
  const verify =
    "ssh-keygen -Y verify -f allowed_signers -I SIGNER -n agent-desktop -s SHA256SUMS.sig < SHA256SUMS"
  expect(shell(verify).exitCode).toBe(0)
  expect(shell("sha256sum -c --ignore-missing SHA256SUMS").exitCode).toBe(0)
  writeFileSync(join(out, "SHA256SUMS"), "changed", { flag: "a" })
  expect(shell(verify).exitCode).not.toBe(0)
})
