import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { build } from "../../build.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { envelopeIn } from "../support/validated.ts"

/** Runs the binaries for other machines on this one: arm64 under qemu, and musl's with its own loader. */

const directory = temporaryForFile()
let desktop: TestDesktop
beforeAll(async () => {
  if (process.platform !== "linux") return
  desktop = await openDesktop()
  desktop.spawnApp(["zenity", "--entry", "--title=Question", "--text=Name", "--entry-text=Ada"])
  await desktop.run("wait", "--window", "Question")
})
afterAll(() => desktop?.close())

interface Machine {
  readonly target: "linux-arm64" | "linux-x64-musl"
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

function onThisDesktop({ target, command, env }: Machine): void {
  beforeAll(() => build(target, `${directory}/${target}`))

  const run = async (...args: readonly string[]) => {
    const child = Bun.spawn([...command, `${directory}/${target}`, ...args], {
      env: { ...desktop.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { stdout, stderr, exitCode: await child.exited, json: envelopeIn(stdout) }
  }

  test("starts, and reports its target", async () => {
    expect((await run("version")).json.data).toMatchObject({ target, arch: target.split("-")[1] })
    expect(await run("--help")).toMatchObject({ stdout: (await desktop.run("--help")).stdout, exitCode: 0 })
  })

  test("sees the same desktop as this machine's binary, and acts on it", async () => {
    const slow = ["--timeout-ms", "60000"]
    const seen = await run("snapshot", "--app", "zenity", "--include-bounds", ...slow)
    const own = (await desktop.run("snapshot", "--app", "zenity", "--include-bounds")).json.data
    expect({ ...seen.json.data, snapshot_id: "" }).toEqual({ ...own, snapshot_id: "" })
    const { ref_id } = (await run("find", "--app", "zenity", "--role", "textfield", "--first", ...slow)).json
      .data.match
    const done = await run("set-value", ref_id, `from ${target} ✓`, ...slow)
    expect(done.json).toMatchObject({ ok: true, data: { disposition: { delivery: "delivered_verified" } } })
    expect((await desktop.run("get", ref_id, "value")).json.data.value).toBe(`from ${target} ✓`)
    const picture = (await run("screenshot", "--app", "zenity", ...slow)).json.data
    expect(Buffer.from(picture.base64, "base64").subarray(1, 4).toString()).toBe("PNG")
  }, 180_000)
}

const ARM_LIBRARIES = "/usr/aarch64-linux-gnu"
const canRunArm =
  Bun.which("qemu-aarch64") !== null && existsSync(`${ARM_LIBRARIES}/lib/ld-linux-aarch64.so.1`)

describe.skipIf(!canRunArm)("linux-arm64", () =>
  onThisDesktop({ target: "linux-arm64", command: ["qemu-aarch64", "-L", ARM_LIBRARIES] }),
)

const ARCHIVES = [...new Bun.Glob("/usr/lib/gcc/x86_64-linux-gnu/*/libstdc++_pic.a").scanSync("/")]
const canRunMusl =
  process.arch === "x64" &&
  Bun.which("musl-gcc") !== null &&
  existsSync("/lib/ld-musl-x86_64.so.1") &&
  ARCHIVES.length > 0

describe.skipIf(!canRunMusl)("linux-x64-musl", () => {
  onThisDesktop({ target: "linux-x64-musl", command: [], env: { LD_LIBRARY_PATH: `${directory}/lib` } })
  beforeAll(() => standIn(ARCHIVES.toSorted().at(-1)!))
})

/**
 * Builds a stand-in for Alpine's libstdc++, since Debian has none for musl: Debian's own one, linked against musl,
 * with stubs for the few missing functions.
 */
function standIn(archive: string): void {
  const gcc = archive.replace(/libstdc\+\+_pic\.a$/, "")
  const stub = new URL("../fixtures/musl/stub.c", import.meta.url).pathname
  const compiled = Bun.spawnSync(
    [
      "sh",
      "-ec",
      `mkdir -p lib
musl-gcc -fPIC -c "$1" -o stub.o
nm -D linux-x64-musl | awk '{ print $NF }' | grep -E '^(_ZN?K?S|_ZTVN10__cxxabi|__cxa|__dynamic_cast|__once)' |
  grep -v atexit_impl | sed 's/@.*//; s/^/-Wl,-u,/' > wanted
musl-gcc -shared -nostdlib -o lib/libstdc++.so.6 -Wl,-soname,libstdc++.so.6 $(cat wanted) stub.o \\
  "$2/libstdc++_pic.a" "$2/libgcc_eh.a" "$2/libgcc.a"`,
      "sh",
      stub,
      gcc,
    ],
    { cwd: directory },
  )
  if (!compiled.success) throw new Error(compiled.stderr.toString())
}
