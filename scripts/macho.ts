/** The offsets in a thin 64-bit Mach-O executable that its code signature needs. */
export interface MachO {
  /** The kernel rounds segments to this size. */
  readonly pageSize: number
  readonly text: Segment
  readonly linkedit: Segment
  readonly signature: { readonly command: number; readonly offset: number; readonly size: number }
}

interface Segment {
  /** The offset of its load command. */
  readonly command: number
  readonly offset: number
  readonly size: number
  readonly memorySize: number
}

/** The offsets of the sizes in a segment command and in a linkedit command. */
export const SEGMENT_MEMORY_SIZE = 32
export const SEGMENT_FILE_SIZE = 48
export const LINKEDIT_FILE_SIZE = 12

/** Throws if the file is not such an executable, has no signature, or is truncated. */
export function readMachO(file: Buffer): MachO {
  demand(file.length >= HEADER && file.readUInt32LE(0) === MAGIC_64, "this is not a thin 64-bit Mach-O file")
  const pageSize = PAGE_SIZES[file.readUInt32LE(4)]
  demand(pageSize, `unknown CPU type 0x${file.readUInt32LE(4).toString(16)}`)
  demand(file.readUInt32LE(12) === EXECUTE, "this is not an executable")
  const commands = readCommands(file)
  const segments = commands.filter(({ kind }) => kind === SEGMENT_64).map(({ at }) => readSegment(file, at))
  const last = segments.at(-1)
  const text = segments.find(({ name }) => name === "__TEXT")
  demand(text, "there is no segment __TEXT")
  demand(last?.name === "__LINKEDIT", "the last segment is not __LINKEDIT")
  demand(
    segments.every(({ offset, size }) => offset + size <= last.offset + last.size),
    "a segment ends after __LINKEDIT",
  )
  const [signature, ...more] = commands.filter(({ kind }) => kind === CODE_SIGNATURE)
  demand(signature && more.length === 0, "there is not exactly one LC_CODE_SIGNATURE")
  return {
    pageSize,
    text,
    linkedit: last,
    signature: {
      command: signature.at,
      offset: file.readUInt32LE(signature.at + 8),
      size: file.readUInt32LE(signature.at + LINKEDIT_FILE_SIZE),
    },
  }
}

export function demand(condition: unknown, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise)
}

const MAGIC_64 = 0xfeedfacf
const EXECUTE = 2
const HEADER = 32
const SEGMENT_64 = 0x19
const CODE_SIGNATURE = 0x1d

/** The page size by CPU type: x86_64, arm64. */
const PAGE_SIZES: Readonly<Record<number, number>> = { 16777223: 0x1000, 16777228: 0x4000 }

function readCommands(file: Buffer): { kind: number; at: number }[] {
  const count = file.readUInt32LE(16)
  const end = HEADER + file.readUInt32LE(20)
  demand(end <= file.length, "the load commands are cut off")
  const commands = []
  let at = HEADER
  for (let index = 0; index < count; index++) {
    demand(at + 8 <= end, "there are more load commands than room for them")
    const kind = file.readUInt32LE(at)
    const size = file.readUInt32LE(at + 4)
    demand(size >= (MINIMUM[kind] ?? 8) && at + size <= end, "a load command has an impossible size")
    commands.push({ kind, at })
    at += size
  }
  demand(at === end, "the load commands do not fill their room")
  return commands
}

const MINIMUM: Readonly<Record<number, number>> = { [SEGMENT_64]: 72, [CODE_SIGNATURE]: 16 }

function readSegment(file: Buffer, command: number): Segment & { name: string } {
  return {
    command,
    name: file.toString("latin1", command + 8, command + 24).replace(/\0+$/, ""),
    memorySize: Number(file.readBigUInt64LE(command + SEGMENT_MEMORY_SIZE)),
    offset: Number(file.readBigUInt64LE(command + 40)),
    size: Number(file.readBigUInt64LE(command + SEGMENT_FILE_SIZE)),
  }
}
