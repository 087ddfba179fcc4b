import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname } from "node:path"
import fc from "fast-check"
import { Deadline } from "../../src/deadline.ts"
import { launchApp, quitProcess } from "../../src/linux/apps.ts"
import { aliasesOf, desktopEntryOf } from "../../src/linux/host/app-names.ts"
import { allEntries, entryById, expandCommand, programOf } from "../../src/linux/host/desktop-files.ts"
import {
  commandLine,
  executablePath,
  processStart,
  readProcess,
  startEnvironment,
  withAncestors,
} from "../../src/linux/host/processes.ts"
import { type Temporary, temporary } from "../support/temporary.ts"
import { until } from "../support/until.ts"

let scratch: Temporary
let place: string
let env: Record<string, string>
const started: number[] = []

beforeEach(() => {
  scratch = temporary()
  place = scratch.path
  mkdirSync(`${place}/bin`)
  env = {
    HOME: `${place}/home`,
    XDG_DATA_HOME: `${place}/own`,
    XDG_DATA_DIRS: `${place}/first:${place}/second`,
    PATH: `${place}/bin:/usr/bin:/bin`,
  }
})

afterEach(() => scratch[Symbol.dispose]())

afterAll(() => {
  for (const pid of started) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL")
})

describe("a desktop file", () => {
  test("has the names of an application and the command to start it", () => {
    entry(
      "own",
      "org.example.Editor",
      "Name=Editor",
      "Name[de]=Schreiber",
      "Exec=editor --icon-name %i --title %c %U",
      "Icon=pencil",
      "Path=/tmp",
      "StartupWMClass=Ed",
    )

    expect(entryById("org.example.Editor", env)).toEqual({
      id: "org.example.Editor",
      path: `${place}/own/applications/org.example.Editor.desktop`,
      names: ["Editor"],
      command: ["editor", "--icon-name", "%i", "--title", "%c", "%U"],
      icon: "pencil",
      workingDirectory: "/tmp",
      wmClass: "Ed",
      terminal: false,
      shown: true,
    })
    expect(entryById("org.example.Editor.desktop", env)?.id).toBe("org.example.Editor")
    expect(entryById("org.example.Editor", { ...env, LANG: "de_AT.UTF-8" })?.names).toEqual([
      "Editor",
      "Schreiber",
    ])
  })

  for (const [exec, args, command] of [
    ["app %f", ["a b"], ["app", "a b"]],
    ["app %F --", ["a", "b"], ["app", "a", "b", "--"]],
    ["app", ["a"], ["app", "a"]],
    ["app %U", [], ["app"]],
    ["app %i", [], ["app", "--icon", "pic"]],
    ["app --name=%c", [], ["app", "--name=Some App"]],
    ["app 100%%", [], ["app", "100%"]],
    ["app %d %m x", [], ["app", "x"]],
    ['app "" x', [], ["app", "", "x"]],
    [
      '"my app" "a \\\\"quoted\\\\" \\\\$word \\\\`tick\\\\` back\\\\\\\\slash"',
      [],
      ["my app", 'a "quoted" $word `tick` back\\slash'],
    ],
    ["app a\\sb", [], ["app", "a", "b"]],
  ] as const)
    test(`with Exec=${exec} and ${JSON.stringify(args)} runs ${JSON.stringify(command)}`, () => {
      entry("own", "app", "Name=Some App", `Exec=${exec}`, "Icon=pic")

      expect(expandCommand(entryById("app", env)!, args)).toEqual([...command])
    })

  test("returns any argument that is quoted as the specification requires", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, unit: fc.constantFrom(..."ab \"'\\$`%;*~ü") }), { minLength: 1 }),
        (words) => {
          const quoted = words
            .map((word) => `"${word.replace(/["`$\\]/g, "\\$&").replaceAll("%", "%%")}"`)
            .join(" ")
          entry("own", "app", "Name=App", `Exec=${quoted.replaceAll("\\", "\\\\")}`)
          expect(expandCommand(entryById("app", env)!, [])).toEqual(words)
        },
      ),
    )
  })

  test("of the user wins over the system's, and hides it with Hidden=true", () => {
    entry("own", "one", "Name=Mine", "Exec=sh")
    entry("first", "one", "Name=Theirs", "Exec=sh")
    entry("own", "two", "Name=Gone", "Exec=sh", "Hidden=true")
    entry("second", "two", "Name=There", "Exec=sh")

    expect([...allEntries(env).values()].map(({ names }) => names[0])).toEqual(["Mine"])
    expect(entryById("two", env)).toBeUndefined()
  })

  test("counts only if its program exists and it describes an application, without its action groups", () => {
    entry("own", "tried", "Name=Tried", "Exec=sh", "TryExec=surely-not-there")
    entry("own", "link", "Name=Link", "Exec=sh", "Type=Link")
    entry("own", "action", "Name=Action", "Exec=sh", "[Desktop Action new]", "Name=New", "Exec=other")
    entry("first", "sub/dir", "Name=Below", "Exec=env A=b /usr/bin/thing --x")

    expect([...allEntries(env).keys()].sort()).toEqual(["action", "sub-dir"])
    expect(allEntries(env).get("action")!.names).toEqual(["Action"])
    expect(programOf(allEntries(env).get("sub-dir")!)).toBe("/usr/bin/thing")
  })

  for (const id of ["../secret", "/etc/passwd", "", "."])
    test(`is never read from outside its directories: ${JSON.stringify(id)}`, () => {
      entry("own", "../secret", "Name=Secret", "Exec=sh")

      expect(entryById(id, env)).toBeUndefined()
    })
})

describe("launch", () => {
  test("finds an application by id, name in any case, program or path", async () => {
    recorder("editor")
    entry("own", "org.example.Editor", "Name=My Editor", "Exec=editor --plain %U", "StartupWMClass=EdWin")

    for (const name of [
      "org.example.Editor",
      "org.example.Editor.desktop",
      "my editor",
      "ORG.EXAMPLE.EDITOR",
    ]) {
      expect((await launch(name, ["a b"])).args).toEqual(["--plain", "a b"])
    }
    for (const name of ["editor", `${place}/bin/editor`])
      expect((await launch(name, ["a b"])).args).toEqual(["a b"])
    expect((await launchApp("My Editor", [], env, Deadline.in(5000))).names).toEqual([
      "My Editor",
      "editor",
      "org.example.Editor",
      "EdWin",
    ])
  })

  test("starts it in its own session, without our input, in the directory of the entry", async () => {
    recorder("editor")
    entry("own", "editor", "Name=Editor", "Exec=editor", `Path=${place}/bin`)
    const seen = await launch("editor", [])

    expect(seen.session).toBe(String(seen.pid))
    expect(seen.directory).toBe(`${place}/bin`)
    expect(seen.stdin).toBe("/dev/null")
    expect(seen.environment).toContain(`HOME=${place}/home`)
  })

  test("reports the exit code of the program", async () => {
    script("quitter", "exit 7")

    expect(await (await launchApp("quitter", [], env, Deadline.in(5000))).exited).toBe(7)
  })

  test("refuses an ambiguous name, unless the entries are the same or only one is shown", async () => {
    recorder("one")
    recorder("two")
    entry("own", "first", "Name=Twin", "Exec=one")
    entry("own", "second", "Name=Twin", "Exec=two")
    entry("own", "copy", "Name=Same", "Exec=one")
    entry("own", "copy2", "Name=Same", "Exec=one")
    entry("own", "hidden", "Name=Shown", "Exec=one", "NoDisplay=true")
    entry("own", "shown", "Name=Shown", "Exec=two")

    expect(await failure("twin")).toMatchObject({
      code: "AMBIGUOUS_TARGET",
      message: "2 installed apps are named 'twin'",
      suggestion: "Name one by its id, such as: agent-desktop launch first",
    })
    expect((await launch("Same", [])).program).toBe("one")
    expect((await launch("Shown", [])).program).toBe("two")
    expect((await launch("second", [])).program).toBe("two")
  })

  test("suggests a similar name for an unknown one", async () => {
    entry("own", "org.example.Editor", "Name=Text Editor", "Exec=sh")

    expect(await failure("Text Editr")).toMatchObject({
      code: "APP_NOT_FOUND",
      message: "There is no app 'Text Editr' to start",
      suggestion: "Did you mean: agent-desktop launch org.example.Editor",
    })
    expect(await failure(`${place}/nothing`)).toMatchObject({ code: "APP_NOT_FOUND" })
    expect(await failure(place)).toMatchObject({ code: "APP_NOT_FOUND" })
    expect(await failure("")).toMatchObject({ code: "APP_NOT_FOUND" })
  })

  test("reports that the program of an application is not installed", async () => {
    entry("own", "lost", "Name=Lost", "Exec=surely-not-there")

    expect(await failure("Lost")).toMatchObject({
      code: "APP_NOT_FOUND",
      message: "There is no app 'Lost' to start: its program 'surely-not-there' is not installed",
    })
  })

  test("opens a terminal for a program that needs one", async () => {
    recorder("x-terminal-emulator")
    entry("own", "pager", "Name=Pager", "Exec=less %f", "Terminal=true")

    expect((await launch("Pager", ["file"])).args).toEqual(["-e", "less", "file"])
  })

  describe("of a browser", () => {
    const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : []

    test("turns accessibility on, once", async () => {
      recorder("chromium")

      expect((await launch("chromium", ["page"])).args).toEqual([
        "--force-renderer-accessibility",
        ...sandbox,
        "page",
      ])
      expect((await launch("chromium", ["--force-renderer-accessibility"])).args).toEqual([
        ...sandbox,
        "--force-renderer-accessibility",
      ])
    })

    test("recognizes Electron by the files next to it", async () => {
      mkdirSync(`${place}/slate/bin`, { recursive: true })
      writeFileSync(`${place}/slate/chrome_100_percent.pak`, "")
      recorder("slate", `${place}/slate/bin`)
      symlinkSync(`${place}/slate/bin/slate`, `${place}/bin/slate`)
      recorder("plain")

      expect((await launch("slate", [])).args).toEqual(["--force-renderer-accessibility", ...sandbox])
      expect((await launch("plain", [])).args).toEqual([])
    })

    test("on an isolated desktop gives it its own profile", async () => {
      recorder("chromium")
      mkdirSync(`${place}/run`)
      const isolated = { ...env, AGENT_DESKTOP_DESKTOP_ID: "some-id", XDG_RUNTIME_DIR: `${place}/run` }

      expect((await launch("chromium", [], isolated)).args).toContain(
        `--user-data-dir=${place}/run/chromium-profile`,
      )
      const chosen = (await launch("chromium", ["--user-data-dir=/x"], isolated)).args
      expect(chosen.filter((arg) => arg.startsWith("--user-data-dir"))).toEqual(["--user-data-dir=/x"])
    })
  })
})

describe("quit", () => {
  test("asks with SIGTERM and ends with SIGKILL", async () => {
    const polite = await sleeper("sleep")
    const stubborn = await run(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"], true)

    expect(quitProcess(polite, processStart(polite)!, false)).toEqual({ method: "SIGTERM" })
    await until(() => !isRunning(polite))
    quitProcess(stubborn, processStart(stubborn)!, false)
    expect(isRunning(stubborn)).toBe(true)
    expect(quitProcess(stubborn, processStart(stubborn)!, true)).toEqual({ method: "SIGKILL" })
    await until(() => !isRunning(stubborn))
  })

  test("leaves a process alone if it is not the one that was seen", async () => {
    const pid = await sleeper("sleep")

    expect(() => quitProcess(pid, "another-life", true)).toThrow(`Process ${pid} has ended`)
    expect(isRunning(pid)).toBe(true)
  })

  for (const name of [
    "Xvfb",
    "openbox",
    "dbus-daemon",
    "gnome-shell",
    "plasmashell",
    "at-spi-bus-launcher",
    "at-spi2-registryd",
    "kwin_x11",
  ])
    test(`refuses to end ${name}`, async () => {
      const pid = await sleeper(name)

      expect(() => quitProcess(pid, processStart(pid)!, true)).toThrow(
        `Process ${pid} (${name}) is not ended: the session depends on it`,
      )
      expect(isRunning(pid)).toBe(true)
    })

  test("refuses process 1, itself and its caller", () => {
    for (const pid of [1, process.pid, process.ppid])
      expect(() => quitProcess(pid, processStart(pid)!, false)).toThrow(
        expect.objectContaining({ code: "POLICY_DENIED" }),
      )
  })
})

describe("the names of a running application", () => {
  test("are those of its window, its program and its desktop file", async () => {
    const pid = await sleeper("scribble")
    entry(
      "own",
      "org.example.Scribble",
      "Name=Scribble Pad",
      "Exec=scribble %U",
      "StartupWMClass=ScribbleWin",
    )

    expect(
      aliasesOf(pid, { accessibleName: "Scribbler", wmClass: ["scrib", "Scrib"] }, env).toSorted(),
    ).toEqual(
      ["Scribbler", "Scribble Pad", "org.example.Scribble", "ScribbleWin", "scribble", "scrib"].toSorted(),
    )
    expect(desktopEntryOf(pid, {}, env)?.id).toBe("org.example.Scribble")
  })

  test("come from the desktop file that its window names, and by class only if that is unique", async () => {
    const pid = await sleeper("office")
    entry("own", "writer", "Name=Writer", "Exec=suite --writer", "StartupWMClass=suite-writer")
    entry("own", "calc", "Name=Calc", "Exec=suite --calc", "StartupWMClass=suite-calc")

    expect(desktopEntryOf(pid, { desktopFile: "calc.desktop" }, env)?.id).toBe("calc")
    expect(desktopEntryOf(pid, { wmClass: ["suite", "Suite-Writer"] }, env)?.id).toBe("writer")
    expect(desktopEntryOf(pid, {}, env)).toBeUndefined()
  })

  test("are those of a script, not of its interpreter", async () => {
    const path = `${place}/tool.py`
    writeFileSync(path, "import time\nprint('ready', flush=True)\ntime.sleep(1000)\n")
    const pid = await run(["/usr/bin/python3", "-u", path], true)

    expect(aliasesOf(pid, {}, env)).toEqual(["tool.py", "tool"])
  })
})

describe("a process", () => {
  test("with a misleading name is read correctly", async () => {
    const pid = await sleeper("a) S 1 (b")
    // Just after its start a process has a name but no arguments yet.
    await until(() => commandLine(pid).length > 0)

    expect(readProcess(pid)).toMatchObject({ pid, name: "a) S 1 (b", parent: process.pid })
    expect(executablePath(pid)).toBe(`${place}/bin/a) S 1 (b`)
    expect(commandLine(pid)).toEqual([`${place}/bin/a) S 1 (b`, "1000"])
    expect(startEnvironment(pid)?.get("PATH")).toBe(process.env.PATH)
    expect(withAncestors(pid).has(process.pid)).toBe(true)
  })

  test("has a start time that stays the same until it ends", async () => {
    const pid = await sleeper("sleep")
    const start = processStart(pid)
    const ticks = Bun.spawnSync(["awk", "{ print $22 }", `/proc/${pid}/stat`])
      .stdout.toString()
      .trim()

    expect(start).toBe(`${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}:${ticks}`)
    expect(processStart(pid)).toBe(start)
    process.kill(pid, "SIGKILL")
    await until(() => processStart(pid) === undefined)
  })
})

function entry(directory: string, id: string, ...lines: string[]): void {
  const path = `${place}/${directory}/applications/${id}.desktop`
  mkdirSync(dirname(path), { recursive: true })
  const type = lines.some((line) => line.startsWith("Type=")) ? [] : ["Type=Application"]
  writeFileSync(path, ["# A comment", "[Desktop Entry]", ...type, ...lines, ""].join("\n"))
}

function script(name: string, body: string, directory = `${place}/bin`): void {
  writeFileSync(`${directory}/${name}`, `#!/bin/sh\n${body}\n`)
  chmodSync(`${directory}/${name}`, 0o755)
}

/** A program that records how it was started, in one atomic write. */
function recorder(name: string, directory?: string): void {
  script(
    name,
    `{ echo "${name}"; pwd; ps -o sid= -p $$ | tr -d ' '; readlink /proc/$$/fd/0; env | tr '\\n' '|'; echo; for a; do echo "$a"; done; } > ${place}/seen.$$.tmp
mv ${place}/seen.$$.tmp ${place}/seen.$$`,
    directory,
  )
}

async function launch(name: string, args: readonly string[], environment = env) {
  const { pid } = await launchApp(name, args, environment, Deadline.in(5000))
  await until(() => existsSync(`${place}/seen.${pid}`))
  const [program, directory, session, stdin, variables, ...seen] = readFileSync(
    `${place}/seen.${pid}`,
    "utf8",
  )
    .split("\n")
    .slice(0, -1)
  return { pid, program, directory, session, stdin, environment: variables!.split("|"), args: seen }
}

const failure = (name: string) => launchApp(name, [], env, Deadline.in(5000)).catch((error) => error)

/** A sleeping process with any name. */
function sleeper(name: string): Promise<number> {
  const path = `${place}/bin/${name}`
  copyFileSync("/usr/bin/sleep", path)
  chmodSync(path, 0o755)
  return run([path, "1000"])
}

async function run(command: readonly string[], speaks = false): Promise<number> {
  const child = Bun.spawn([...command], { stdio: ["ignore", speaks ? "pipe" : "ignore", "ignore"] })
  started.push(child.pid)
  if (speaks && child.stdout) await child.stdout.getReader().read()
  await until(() => executablePath(child.pid) !== executablePath(process.pid))
  return child.pid
}

/** A zombie, which waits only for its parent, does not count as running. */
const isRunning = (pid: number) =>
  /^[^Z]/.test(Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]).stdout.toString())
