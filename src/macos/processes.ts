import { readdirSync } from "node:fs"
import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { BSD_INFO, libsystem, PATH_SIZE } from "../../ffi/libsystem.ts"
import { textOf } from "./cf.ts"

/** Tells one life of a pid from the next; undefined when there is no such process. */
export function processStart(pid: number): string | undefined {
  const info = bsdInfo(pid)
  if (info)
    return `${info.getBigUint64(BSD_INFO.startSeconds, true)}.${info.getBigUint64(BSD_INFO.startMicroseconds, true)}`
  // Another user's process does not tell; that it exists is all there is to know.
  return exists(pid) ? "unknown" : undefined
}

export function parentOf(pid: number): number | undefined {
  return bsdInfo(pid)?.getUint32(BSD_INFO.parent, true)
}

/** Where the executable of a process is. */
function executableOf(pid: number): string | undefined {
  const path = new Uint8Array(PATH_SIZE)
  const length = libsystem().proc_pidpath(pid, path, PATH_SIZE)
  return length > 0 ? new TextDecoder().decode(path.subarray(0, length)) : undefined
}

interface Bundle {
  /** The bundle's file name without `.app`. */
  readonly name: string
  readonly id?: string
}

/** Path and name of the app bundle that a process runs from. */
function bundlePlace(pid: number): { readonly path: string; readonly name: string } | undefined {
  const [path, name] = executableOf(pid)?.match(/^.*?\/([^/]+)\.app(?=\/)/) ?? []
  return path && name ? { path, name } : undefined
}

/** Whether the app has a framework of such a name inside. */
export function hasFramework(pid: number, name: RegExp): boolean {
  const place = bundlePlace(pid)
  if (!place) return false
  try {
    return readdirSync(`${place.path}/Contents/Frameworks`).some((entry) => name.test(entry))
  } catch (error) {
    // Most apps have none, and some do not let us look.
    if (error instanceof Error && "code" in error) return false
    throw error
  }
}

/** The app bundle that a process runs from. Read without AppKit, which takes long to load. */
export function bundleOf(pid: number): Bundle | undefined {
  const place = bundlePlace(pid)
  if (!place) return undefined
  const { path, name } = place
  const bytes = new TextEncoder().encode(path)
  const cf = coreFoundation()
  using url = new Owned(cf.CFURLCreateFromFileSystemRepresentation(0n, bytes, bytes.length, 1))
  using bundle = new Owned(url.ref && cf.CFBundleCreate(0n, url.ref))
  return { name, id: bundle.ref ? textOf(cf.CFBundleGetIdentifier(bundle.ref)) : undefined }
}

/** The process that runs from a bundle of this file name; undefined when none does. */
export function processOf(bundle: string): number | undefined {
  const pids = new Int32Array(8192)
  const count = libsystem().proc_listallpids(pids, pids.byteLength)
  return Array.from(pids.subarray(0, count)).find((pid) => executableOf(pid)?.includes(`/${bundle}.app/`))
}

function bsdInfo(pid: number): DataView | undefined {
  const info = new Uint8Array(BSD_INFO.size)
  const size = libsystem().proc_pidinfo(pid, BSD_INFO.flavor, 0n, info, BSD_INFO.size)
  return size === BSD_INFO.size ? new DataView(info.buffer) : undefined
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is there but not ours.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
