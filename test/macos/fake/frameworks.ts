import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The Apple library that a dlopen path names; undefined for any other path. */
export function appleLibrary(path: string): string | undefined {
  const framework = /^\/System\/Library\/(?:Private)?Frameworks\/(?:.*\/)?([^/]+)\.framework\//.exec(
    path,
  )?.[1]
  if (framework) return framework
  return /^(?:\/usr\/lib\/(?:system\/)?)?lib(objc|System|ffi|proc)[.-].*dylib$/.exec(path)?.[1]
}

/** True if dlsym finds the symbol in this library or in one that it re-exports. */
export function exportsSymbol(library: string, symbol: string): boolean {
  symbols ??= new Map(
    readFileSync(join(import.meta.dir, "symbols.tsv"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line): [string, string] => {
        const [name = "", home = ""] = line.split("\t")
        return [name, home]
      }),
  )
  const home = symbols.get(symbol)
  // libSystem contains the C library too, which is the real one.
  if (home === undefined && library === "System") return true
  return home !== undefined && (home === "System" || reachable(library).has(home))
}

/** Every symbol of the stand-in, with its library. */
export function knownSymbols(): ReadonlyMap<string, string> {
  exportsSymbol("", "")
  return symbols ?? new Map()
}

let symbols: Map<string, string> | undefined

// Re-exports of each library, from the .tbd files of the SDK.
const REEXPORTS: Readonly<Record<string, readonly string[]>> = {
  AppKit: ["Foundation", "ApplicationServices"],
  Cocoa: ["AppKit", "Foundation"],
  Carbon: ["HIToolbox", "ApplicationServices", "CoreServices"],
  ApplicationServices: ["HIServices", "CoreGraphics", "ImageIO", "CoreServices"],
  CoreServices: ["CoreFoundation"],
  Foundation: ["CoreFoundation", "objc"],
  CoreFoundation: ["objc"],
  HIServices: ["CoreFoundation"],
  CoreGraphics: ["CoreFoundation"],
  ImageIO: ["CoreFoundation"],
  proc: ["System"],
}

function reachable(library: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(library)) return seen
  seen.add(library)
  for (const next of REEXPORTS[library] ?? []) reachable(next, seen)
  return seen
}
