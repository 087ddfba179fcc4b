import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"

/**
 * Runs the compiled suite of the macOS adapter as an arm64 executable under qemu-user. This tests the registers and
 * struct rules of the processor in Macs. It is slow, and not part of the check. It needs
 * qemu-user, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross. Further arguments are passed to `bun test`.
 */

const LIBRARIES = "/usr/aarch64-linux-gnu/lib"

const missing = ["qemu-aarch64", "aarch64-linux-gnu-gcc"].filter((program) => !Bun.which(program))
if (missing.length > 0 || !existsSync(LIBRARIES)) {
  console.error(`Not installed: ${[...missing, ...(existsSync(LIBRARIES) ? [] : [LIBRARIES])].join(", ")}`)
  console.error("Run: apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
  process.exit(1)
}

const root = new URL("..", import.meta.url).pathname
const suite = Bun.spawn(
  [
    process.execPath,
    "test",
    "--timeout",
    "1800000",
    ...["", "-examples", "-refs"].map((part) => `${root}test/macos/compiled${part}.test.ts`),
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    env: {
      ...process.env,
      AGENT_DESKTOP_TEST_MACHINE: "arm64",
      AGENT_DESKTOP_TEST_LIBRARIES: await foreignLibraries(),
    },
    stdout: "inherit",
    stderr: "inherit",
  },
)
process.exitCode = await suite.exited

/** The folder of libffi for arm64: the system's if installed, or an unpacked package in the temporary directory. */
async function foreignLibraries(): Promise<string> {
  const installed = "/usr/lib/aarch64-linux-gnu"
  if (existsSync(`${installed}/libffi.so.8`)) return installed
  const aside = `${tmpdir()}/agent-desktop-arm64-libraries`
  const unpacked = `${aside}${installed}`
  if (existsSync(`${unpacked}/libffi.so.8`)) return unpacked
  // Separate package lists, so that the system does not get a second architecture.
  const lists = `${aside}/lists`
  const cache = `${aside}/cache`
  for (const folder of [lists, `${cache}/archives`]) await mkdir(`${folder}/partial`, { recursive: true })
  const both = ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${cache}`].concat(
    ...["amd64", "arm64"].map((name) => ["-o", `APT::Architectures::=${name}`]),
  )
  const apt = (...args: readonly string[]) =>
    Bun.spawnSync(["apt-get", "-q", ...both, ...args], { cwd: aside, stderr: "inherit" }).exitCode === 0
  const fetched = apt("update") && apt("download", "libffi8:arm64")
  for (const name of new Bun.Glob("libffi8_*_arm64.deb").scanSync(aside)) {
    Bun.spawnSync(["dpkg-deb", "-x", name, "."], { cwd: aside, stderr: "inherit" })
  }
  if (!fetched || !existsSync(`${unpacked}/libffi.so.8`)) {
    console.error("libffi for arm64 could not be downloaded: tests that need it will fail")
    return ""
  }
  return unpacked
}
