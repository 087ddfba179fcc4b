import type { Shell } from "../src/cli/completions.ts"
/**
 * Reproducible archives: no owner, the given time, entries in the given order. The same files always give the same
 * bytes.
 */

export interface Entry {
  readonly path: string
  readonly content: Uint8Array | string
  readonly isExecutable?: boolean
}

/** A gzipped tar (ustar) of files, with or without their directories. */
export function tarGz(
  entries: readonly Entry[],
  time: number,
  { directories = false } = {},
): Uint8Array<ArrayBuffer> {
  const parts = entries.flatMap(({ path, content, isExecutable }, index) => {
    const bytes = Buffer.from(content)
    const earlier = entries.slice(0, index).flatMap((entry) => directoriesOf(entry.path))
    const fresh = directories ? directoriesOf(path).filter((one) => !earlier.includes(one)) : []
    return [
      ...fresh.map((directory) => header(directory, 0o755, 0, time, "5")),
      header(path, isExecutable ? 0o755 : 0o644, bytes.length, time, "0"),
      bytes,
      Buffer.alloc(-bytes.length & (BLOCK - 1)),
    ]
  })
  return gzip(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]))
}

/** Compresses without recording a name or time. */
export function gzip(bytes: Buffer<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(bytes, { level: 6 })
}

/** An ar archive, the format of a Debian package. */
export function ar(entries: readonly Entry[], time: number): Buffer {
  const parts = entries.flatMap(({ path, content }) => {
    const bytes = Buffer.from(content)
    const fields = [
      path.padEnd(16),
      `${time}`.padEnd(12),
      "0     0     100644  ",
      `${bytes.length}`.padEnd(10),
    ]
    return [Buffer.from(`${fields.join("")}\`\n`), bytes, Buffer.from("\n".repeat(bytes.length & 1))]
  })
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts])
}

const BLOCK = 512

/** "./usr/bin/x" is in "./", "./usr/" and "./usr/bin/". */
function directoriesOf(path: string): string[] {
  const names = path.split("/").slice(0, -1)
  return names.map((_, index) => `${names.slice(0, index + 1).join("/")}/`)
}

function header(path: string, mode: number, size: number, time: number, kind: "0" | "5"): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`The path is too long for a tar: ${path}`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`
  block.write(path, 0)
  block.write(octal(mode, 7) + octal(0, 7) + octal(0, 7) + octal(size, 11) + octal(time, 11), 100)
  block.write(`        ${kind}`, 148)
  block.write("ustar\x0000root", 257)
  block.write("root", 297)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)} `, 148)
  return block
}

export interface Extras {
  readonly licence: string
  readonly notices: string
  readonly readme: string
  readonly changelog: string
  readonly man?: string
  readonly completions: Readonly<Partial<Record<Shell, string>>>
}
