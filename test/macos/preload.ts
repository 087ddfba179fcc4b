/**
 * For `bun test --preload`: replaces the libraries and programs of macOS with those of test/macos/fake.
 * Must run before bun:ffi is loaded. Builds nothing until an Apple path is opened.
 */
import { buildFake, TOOLS } from "./fake/build.ts"
import { appleLibrary, exportsSymbol } from "./fake/frameworks.ts"

interface Native {
  dlopen(
    path: string,
    symbols: Record<string, unknown>,
  ): { symbols: Record<string, (...args: unknown[]) => unknown> }
  ptr(bytes: Uint8Array): number
}

// The functions that bun:ffi itself calls. Bun's types do not declare them.
const native: Native = Reflect.get(Bun, "FFI")
const realDlopen = native.dlopen

native.dlopen = (path, symbols) => {
  const library = typeof path === "string" ? appleLibrary(path) : undefined
  if (!library) return realDlopen(path, symbols)
  if (library === "ffi") return realDlopen("libffi.so.8", symbols)
  const hidden = (process.env.FAKEMAC_HIDE ?? "").split(",")
  for (const symbol of Object.keys(symbols)) {
    if (exportsSymbol(library, symbol) && !hidden.includes(symbol)) continue
    throw new TypeError(`Symbol "${symbol}" not found in "${path}"`)
  }
  control().note(path)
  return realDlopen(buildFake().library, symbols)
}

const realSpawn = Bun.spawn
const realSpawnSync = Bun.spawnSync
Reflect.set(Bun, "spawn", (...args: unknown[]) => Reflect.apply(realSpawn, Bun, redirected(args)))
Reflect.set(Bun, "spawnSync", (...args: unknown[]) => Reflect.apply(realSpawnSync, Bun, redirected(args)))

// A pid of the scene may belong to a real process on this machine, which must never get the signal.
const realKill = process.kill
process.kill = (pid, signal) => {
  const number = signal === undefined ? 15 : typeof signal === "number" ? signal : (SIGNALS[signal] ?? 15)
  const result = loaded ? control().kill(pid, number) : undefined
  if (result === undefined) return realKill.call(process, pid, signal)
  if (result === 0) return true
  throw Object.assign(new Error("kill() failed: ESRCH: No such process"), { code: "ESRCH", syscall: "kill" })
}

const SIGNALS: Readonly<Record<string, number>> = { SIGTERM: 15, SIGKILL: 9, SIGINT: 2, SIGHUP: 1 }

interface Control {
  note(path: string): void
  /** undefined: the process is not part of the scene. */
  kill(pid: number, signal: number): number | undefined
}

let loaded: Control | undefined

function control(): Control {
  if (loaded) return loaded
  const { symbols } = realDlopen(buildFake().library, {
    fakemac_note_load: { args: ["ptr"], returns: "void" },
    fakemac_kill: { args: ["i32", "i32", "ptr"], returns: "bool" },
  })
  loaded = {
    note: (path) => void symbols.fakemac_note_load?.(native.ptr(Buffer.from(`${path}\0`))),
    kill: (pid, signal) => {
      const result = new Int32Array(1)
      return symbols.fakemac_kill?.(pid, signal, native.ptr(new Uint8Array(result.buffer)))
        ? result[0]
        : undefined
    },
  }
  return loaded
}

/** Replaces /usr/sbin/screencapture and the like with programs of the stand-in. */
function redirected(args: unknown[]): unknown[] {
  const [first, ...rest] = args
  if (Array.isArray(first)) return [tool(first), ...rest]
  if (typeof first === "object" && first !== null && "cmd" in first && Array.isArray(first.cmd)) {
    return [{ ...first, cmd: tool(first.cmd) }, ...rest]
  }
  return args
}

function tool(command: unknown[]): unknown[] {
  const [program, ...rest] = command
  const name = typeof program === "string" ? /^(?:\/usr\/s?bin\/)?([a-z]+)$/.exec(program)?.[1] : undefined
  if (!name || !TOOLS.some((known) => known === name)) return command
  return [`${buildFake().bin}/${name}`, ...rest]
}
