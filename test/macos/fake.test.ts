import { dlopen } from "bun:ffi"
import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryForFile } from "../support/temporary.ts"
import { until } from "../support/until.ts"
import { buildFake } from "./fake/build.ts"
import { mac as api, application, find, makeString, stringValue } from "./fake/client.ts"
import { appleLibrary, exportsSymbol, knownSymbols } from "./fake/frameworks.ts"
import { finish, keep, release, start } from "./fake/stage.ts"
import { startScene, windowColour } from "./fake.ts"

afterEach(finish)

describe("the library", () => {
  test("keeps the rules of CoreFoundation, as a C program sees them", () => {
    const { stdout, exitCode } = Bun.spawnSync([buildFake().check])
    expect(stdout.toString()).toBe("ok\n")
    expect(exitCode).toBe(0)
  })

  const emulator = Bun.which("qemu-aarch64")
  test.skipIf(!emulator || !Bun.which("aarch64-linux-gnu-gcc"))(
    "keeps them on arm64 too, where these are installed",
    () => {
      const { stdout } = Bun.spawnSync([
        emulator ?? "",
        "-L",
        "/usr/aarch64-linux-gnu",
        buildFake("arm64").check,
      ])
      expect(stdout.toString()).toBe("ok\n")
    },
  )

  test("has every symbol that it claims to have", () => {
    for (const [symbol, library] of knownSymbols()) {
      if (library === "ffi") continue
      dlopen(buildFake().library, { [symbol]: { args: [], returns: "void" } }).close()
    }
  })

  test("shows a symbol only in the libraries that re-export it", () => {
    expect(exportsSymbol("CoreFoundation", "CFRelease")).toBe(true)
    expect(exportsSymbol("ApplicationServices", "CFRelease")).toBe(true)
    expect(exportsSymbol("CoreFoundation", "AXIsProcessTrusted")).toBe(false)
    expect(exportsSymbol("AppKit", "AXIsProcessTrusted")).toBe(true)
    expect(exportsSymbol("AppKit", "TISCopyCurrentKeyboardInputSource")).toBe(false)
    expect(exportsSymbol("Carbon", "TISCopyCurrentKeyboardInputSource")).toBe(true)
  })

  test("is found under every name of Apple's libraries", () => {
    const names = [
      ["/System/Library/Frameworks/AppKit.framework/AppKit", "AppKit"],
      [
        "/System/Library/Frameworks/ApplicationServices.framework/Frameworks/HIServices.framework/HIServices",
        "HIServices",
      ],
      ["/usr/lib/libSystem.B.dylib", "System"],
      ["libSystem.B.dylib", "System"],
      ["/usr/lib/libobjc.A.dylib", "objc"],
      ["/usr/lib/libffi.dylib", "ffi"],
      ["libX11.so.6", undefined],
      ["/usr/lib/libobject.so", undefined],
    ] as const
    for (const [path, library] of names) expect(appleLibrary(path)).toBe(library)
  })

  test("refuses a scene that is not JSON", () => {
    expect(() => startScene("/dev/null")).toThrow("cannot be shown")
  })

  test("returns references that a double cannot hold", () => {
    start({ apps: [] })
    const string = keep(makeString("AXRole"))
    expect(string >> 63n).toBe(1n)
    expect(BigInt(Number(string))).not.toBe(string)
    expect(stringValue(string)).toBe("AXRole")
  })

  test("reports leaks and over-releases", () => {
    const mac = start({ apps: [] })
    const forgotten = makeString("a string of some length")
    api().CFRetain(forgotten)
    expect(mac.report().leaks).toEqual([
      { type: "CFString", creator: "CFRetain", count: 2, value: "a string of some length" },
    ])
    for (let i = 0; i < 3; i++) api().CFRelease(forgotten)
    expect(mac.report().violations.map(({ kind, symbol }) => [kind, symbol])).toEqual([
      ["use_after_free", "CFRelease"],
    ])
    mac.mark()
  })
})

describe("programs that know only Apple's paths", () => {
  const client = join(import.meta.dir, "fake/programs/client.ts")
  const preload = join(import.meta.dir, "preload.ts")
  const compiled = join(temporaryForFile(), "client")

  beforeAll(() => {
    const build = Bun.spawnSync([process.execPath, "build", "--compile", client, "--outfile", compiled])
    expect(build.exitCode).toBe(0)
  })

  // The preload works without LD_PRELOAD, and a compiled program works without the preload.
  const ways = [
    {
      way: "with the preload",
      command: () => [process.execPath, "--preload", preload, client],
      env: { LD_PRELOAD: "" },
    },
    { way: "compiled", command: () => [compiled], env: {} },
  ]

  for (const { way, command, env } of ways) {
    test(`${way}: load the frameworks and leave a report`, async () => {
      const mac = start("example-textedit")
      const plainRun = await mac.run([...command(), "length"], { env })
      expect([plainRun.stdout, plainRun.stderr]).toEqual(["8\n", ""])
      expect(plainRun.report?.violations).toEqual([])
      const leaking = await mac.run([...command(), "leak"], { env })
      expect(leaking.report?.leaks).toMatchObject([
        { creator: "CFStringCreateWithCString", value: "never released" },
      ])
    })

    test(`${way}: share the scene with the test and with each other`, async () => {
      const mac = start("example-textedit")
      expect((await mac.run([...command(), "type", "2345", "Hello"], { env })).stdout).toBe("0\n")
      expect((await mac.run([...command(), "type", "2345", " world"], { env })).report?.leaks).toEqual([])
      expect(mac.look("text").AXValue).toBe("Hello world")
      expect(mac.record("write").map((line) => line.value)).toEqual(["Hello", " world"])
      mac.apply({ do: "note", text: "written once" })
      await mac.run([...command(), "length"], { env })
      expect(mac.record("note")).toHaveLength(1)
    })

    test(`${way}: get AppKit's classes with AppKit`, async () => {
      expect((await start("desktop").run([...command(), "classes"], { env })).stdout).toBe("[true,true]\n")
    })

    test(`${way}: die of an unknown selector`, async () => {
      const { exitCode, stderr, report } = await start("desktop").run([...command(), "exception"], { env })
      expect(exitCode).not.toBe(0)
      expect(stderr).toContain("+[NSString dance]: unrecognized selector sent to class")
      expect(report?.violations[0]?.kind).toBe("NSInvalidArgumentException")
    })

    test(`${way}: take pictures and start applications with the system's programs`, async () => {
      const mac = start("desktop")
      const file = join(mac.directory, "shot.png")
      const shot = await mac.run([...command(), "capture", "-x", "-t", "png", "-l", "106", file], { env })
      expect(shot.stdout).toBe("true\n")
      expect(pixel(file)).toEqual({ width: 800, height: 600, first: windowColour(106) })
      expect((await mac.run([...command(), "capture", "-x", "-l", "9999", file], { env })).stdout).toBe(
        "false\n",
      )
      expect((await mac.run([...command(), "open", "-a", "Nowhere"], { env })).stdout).toBe("false\n")
      expect((await mac.run([...command(), "open", "-a", "Calculator"], { env })).stdout).toBe("true\n")
      await until(() => mac.world().windows[0] === 201)
      expect(mac.world().front).toBe(800)
    })

    test(`${way}: signal only processes of the scene`, async () => {
      const mac = start("desktop")
      expect((await mac.run([...command(), "kill", "703"], { env })).stdout).toBe("true\n")
      expect(mac.world().apps.find(({ pid }) => pid === 703)?.running).toBe(false)
      expect(mac.record("kill")).toMatchObject([{ pid: 703, signal: 15 }])
    })
  }
})

describe("the scenes", () => {
  const files = [...new Bun.Glob("*.json").scanSync(join(import.meta.dir, "fake/scenes"))]

  for (const file of files) {
    test(`${file} can be shown and walked without violations`, () => {
      const mac = start(file.replace(".json", ""), { virtualClock: true })
      for (const { pid } of mac.world().apps)
        expect(find(keep(application(pid)), "no such name")).toBeUndefined()
      expect(mac.report().violations.filter(({ kind }) => kind !== "secure_value")).toEqual([])
      release()
      mac.mark()
    })
  }
})

/** Size and first pixel of a PNG. Inflating it proves that it is valid. */
function pixel(file: string): { width: number; height: number; first: readonly number[] } {
  expect(existsSync(file)).toBe(true)
  const bytes = readFileSync(file)
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const length = bytes.readUInt32BE(33)
  const raw = Bun.inflateSync(new Uint8Array(bytes.subarray(43, 41 + length - 4)))
  return { width, height, first: [...raw.subarray(1, 4)] }
}
