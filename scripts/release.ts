import { mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { build, TARGETS, type Target } from "../build.ts"
import { version } from "../package.json"
import { type Entry, type Extras, tarGz } from "./archive.ts"
import { bundle } from "./bundle.ts"
import { ARCHITECTURES, debianPackage } from "./debian.ts"
import { buildLibrary } from "./library.ts"
import { packLauncher, packPlatform } from "./npm.ts"
import { packagedReadme } from "./readme.ts"
import { verify } from "./sign.ts"
import { fillIn, template } from "./template.ts"

/**
 * Builds everything that a release publishes, in dist/release:
 *
 *   bun scripts/release.ts [--from DIR] [--out DIR] [--url BASE [--homepage ADDRESS]]
 *
 * Archives, app bundles, Debian packages, npm packages, Homebrew formulas, and SHA256SUMS of them all. BASE is the future address
 * of the archives; without it there are no formulas. The packages name ADDRESS, or BASE. --from takes existing binaries instead
 * of building them. One commit always gives the same bytes.
 */

interface Release {
  /** Directory with agent-desktop-<target> for every target. */
  readonly from: string
  readonly out: string
  /** The future address of the archives. Without it no formulas are written, because they name it. */
  readonly url?: string
  /** The address that packages and formulas name. */
  readonly homepage?: string
  readonly extras: Extras
  /** Files of the npm package's library. */
  readonly library: readonly Entry[]
  /** Seconds since 1970, the time of every file in every archive. */
  readonly time: number
}

/** Returns the names of the written files. */
export async function release({
  from,
  out,
  url,
  homepage = url,
  extras,
  library,
  time,
}: Release): Promise<readonly string[]> {
  await rm(out, { recursive: true, force: true })
  await mkdir(out, { recursive: true })
  const sums = new Map<string, string>()
  const publish = async (name: string, bytes: Uint8Array | string) => {
    sums.set(name, new Bun.CryptoHasher("sha256").update(bytes).digest("hex"))
    await Bun.write(join(out, name), bytes)
  }
  const licence = { path: "LICENSE", content: extras.licence }
  const notices = { path: "THIRD-PARTY-NOTICES.txt", content: extras.notices }
  const documents = [licence, notices, { path: "README.md", content: packagedReadme(extras.readme) }]

  for (const target of TARGETS) {
    const bytes = Buffer.from(await Bun.file(join(from, `agent-desktop-${target}`)).arrayBuffer())
    if (target.startsWith("darwin")) verify(bytes)
    const binary = { path: "agent-desktop", content: bytes, isExecutable: true }
    const entries = [binary, ...documents, ...manualAndCompletions(extras)]
    await publish(archiveName(target), tarGz(inFolder(`agent-desktop-${version}`, entries), time))
    const npm = packPlatform({
      target,
      version,
      homepage,
      binary,
      licences: [licence, notices],
      time,
    })
    await publish(`npm-agent-desktop-${target}-${version}.tgz`, npm)
    if (target.startsWith("darwin"))
      await publish(
        appName(target),
        tarGz(await bundle(bytes, version, documents), time, { directories: true }),
      )
    const architecture = isDebian(target) ? ARCHITECTURES[target] : undefined
    if (!architecture) continue
    const deb = await debianPackage({ architecture, homepage, version, binary: bytes, extras, time })
    await publish(`agent-desktop_${version}_${architecture}.deb`, deb)
  }
  const launcher = await packLauncher({ targets: TARGETS, version, homepage, documents, library, time })
  await publish(`npm-agent-desktop-${version}.tgz`, launcher)
  for (const [file, targets, nameOf] of url && homepage ? FORMULAS : []) {
    const values = targets.flatMap((target) => [
      [`url-${target}`, `${url}/${nameOf(target)}`],
      [`sha256-${target}`, sums.get(nameOf(target))!],
    ])
    const filled = { version, homepage, ...Object.fromEntries(values) }
    await publish(file, fillIn(await template(`homebrew/${file}`), filled))
  }
  const lines = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`)
  await Bun.write(join(out, "SHA256SUMS"), lines.join(""))
  return (await readdir(out)).sort()
}

const SHELLS = ["bash", "zsh", "fish"] as const
type Shell = (typeof SHELLS)[number]

const archiveName = (target: Target): string => `agent-desktop-${version}-${target}.tar.gz`
const appName = (target: Target): string => `agent-desktop-app-${version}-${target}.tar.gz`

const isDebian = (target: Target): target is keyof typeof ARCHITECTURES =>
  Object.hasOwn(ARCHITECTURES, target)

const inFolder = (folder: string, entries: readonly Entry[]): Entry[] =>
  entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }))

const COMPLETION_FILES = {
  bash: "agent-desktop.bash",
  zsh: "_agent-desktop",
  fish: "agent-desktop.fish",
} as const

function manualAndCompletions({ man, completions }: Extras): Entry[] {
  return [
    ...(man ? [{ path: "agent-desktop.1", content: man }] : []),
    ...SHELLS.flatMap((shell) => {
      const content = completions[shell]
      return content ? [{ path: `completions/${COMPLETION_FILES[shell]}`, content }] : []
    }),
  ]
}

/** Homebrew does not support musl. The bundle exists for macOS only. */
const FORMULAS = [
  ["agent-desktop.rb", TARGETS.filter((target) => !target.endsWith("-musl")), archiveName],
  ["agent-desktop-app.rb", TARGETS.filter((target) => target.startsWith("darwin")), appName],
] as const

const root = join(import.meta.dir, "..")

/** The files beside the binary; the manual and the completions only if they exist. */
export async function readExtras(): Promise<Extras> {
  const read = (path: string) => Bun.file(join(root, path)).text()
  const hasMan = await Bun.file(join(root, "docs/agent-desktop.1")).exists()
  const files = ["LICENSE", "THIRD-PARTY-NOTICES.txt", "README.md", "CHANGELOG.md"]
  const [licence, notices, readme, changelog] = await Promise.all(files.map(read))
  const scripts = await Promise.all(
    SHELLS.map(async (shell) => [shell, await completionsFor(shell)] as const),
  )
  return {
    licence: licence!,
    notices: notices!,
    readme: readme!,
    changelog: changelog!,
    man: hasMan ? await read("docs/agent-desktop.1") : undefined,
    completions: Object.fromEntries(scripts),
  }
}

async function completionsFor(shell: Shell): Promise<string | undefined> {
  const main = join(root, "src/main.ts")
  const child = Bun.spawn([process.execPath, main, "completions", shell], {
    stdout: "pipe",
    stderr: "ignore",
  })
  const text = await new Response(child.stdout).text()
  return (await child.exited) === 0 ? text : undefined
}

async function commitTime(): Promise<number> {
  const git = Bun.spawn(["git", "log", "-1", "--format=%ct"], { cwd: root, stdout: "pipe" })
  const text = await new Response(git.stdout).text()
  if ((await git.exited) !== 0) throw new Error("There is no commit to take the time from")
  return Number(text)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      from: { type: "string" },
      out: { type: "string" },
      url: { type: "string" },
      homepage: { type: "string" },
    },
  })
  const from = values.from ?? join(root, "dist")
  await mkdir(from, { recursive: true })
  if (!values.from) for (const target of TARGETS) await build(target, join(from, `agent-desktop-${target}`))
  const out = values.out ?? join(root, "dist/release")
  const { url, homepage } = values
  const [extras, library, time] = await Promise.all([readExtras(), buildLibrary(), commitTime()])
  const files = await release({ from, out, url, homepage, extras, library, time })
  for (const name of files)
    console.log(`${(Bun.file(join(out, name)).size / 1e6).toFixed(1).padStart(6)} MB  ${name}`)
}
