import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface FakeBuild {
  /** The folder that contains all of the following. */
  readonly directory: string
  /** Apple's frameworks, as one library. */
  readonly library: string
  /** For LD_PRELOAD: replaces Apple paths that a program passes to dlopen and exec. */
  readonly redirect: string
  /** Replaces /usr/sbin and /usr/bin: screencapture, open, pbcopy … */
  readonly bin: string
  /** The C test of the library itself. */
  readonly check: string
}

export type Machine = "x64" | "arm64"

/** Compiles the stand-in once for each state of its sources, and returns the paths. */
export function buildFake(machine: Machine = process.arch === "arm64" ? "arm64" : "x64"): FakeBuild {
  const compiler = compilerFor(machine)
  const key = createHash("sha256").update(compiler).update(FLAGS.join(" "))
  for (const file of [...LIBRARY, ...HEADERS, ...Object.values(PROGRAMS)])
    key.update(file).update(readFileSync(file))
  const directory = join(CACHE, `${machine}-${key.digest("hex").slice(0, 16)}`)
  const build: FakeBuild = {
    directory,
    library: join(directory, "libfakemac.so"),
    redirect: join(directory, "dlredirect.so"),
    bin: join(directory, "bin"),
    check: join(directory, "check"),
  }
  if (existsSync(directory)) return build
  // Test files run at the same time: each builds in a folder of its own, and the first rename wins.
  const aside = `${directory}.${process.pid}`
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(join(aside, "bin"), { recursive: true })
  try {
    compileAll(compiler, aside)
    renameSync(aside, directory)
  } catch (error) {
    rmSync(aside, { recursive: true, force: true })
    if (!existsSync(directory)) throw error
  }
  return build
}

export function compilerFor(machine: Machine): string {
  if (machine === process.arch) return process.env.CC ?? "gcc"
  return machine === "arm64" ? "aarch64-linux-gnu-gcc" : "x86_64-linux-gnu-gcc"
}

/** Programs that the stand-in replaces. One executable plays all of them, by its name. */
export const TOOLS = ["screencapture", "open", "pbcopy", "pbpaste", "osascript"] as const

const HERE = import.meta.dir
// Not in dist/: a build of the program may clear it while tests run.
const CACHE = join(tmpdir(), `agent-desktop-fakemac-${process.getuid?.() ?? 0}`)
const FLAGS = [
  "-std=c11",
  "-D_GNU_SOURCE",
  "-O2",
  "-g",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-fvisibility=hidden",
  "-fPIC",
  "-pthread",
  `-I${HERE}`,
  `-Wa,-I${HERE}`,
]
const LIBRARY = sources(".c")
const HEADERS = [...sources(".h"), ...sources(".json")]
const PROGRAMS = {
  redirect: join(HERE, "../dlredirect.c"),
  tools: join(HERE, "programs/tools.c"),
  check: join(HERE, "programs/check.c"),
}

function sources(ending: string): string[] {
  return readdirSync(HERE)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(HERE, name))
}

function compileAll(compiler: string, into: string): void {
  compile(compiler, ["-shared", "-o", join(into, "libfakemac.so"), ...LIBRARY, "-lm", "-ldl"])
  compile(compiler, ["-shared", "-o", join(into, "dlredirect.so"), PROGRAMS.redirect, "-ldl"])
  const linked = ["-L", into, "-lfakemac", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath,$ORIGIN/.."]
  compile(compiler, ["-o", join(into, "check"), PROGRAMS.check, ...linked])
  compile(compiler, ["-o", join(into, "bin/fakemac-tool"), PROGRAMS.tools, join(HERE, "text.c"), ...linked])
  for (const name of TOOLS) symlinkSync("fakemac-tool", join(into, "bin", name))
}

function compile(compiler: string, args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([compiler, ...FLAGS, ...args], {
    stdout: "ignore",
    stderr: "pipe",
  })
  if (exitCode !== 0) throw new Error(`${compiler} ${args.slice(0, 3).join(" ")} …\n${stderr.toString()}`)
}

// `check` builds it before the tests. Otherwise the first files would each compile it at the same time.
if (import.meta.main) buildFake()
