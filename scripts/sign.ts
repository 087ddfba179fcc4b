import { chmod, rename } from "node:fs/promises"
import {
  demand,
  LINKEDIT_FILE_SIZE,
  type MachO,
  readMachO,
  SEGMENT_FILE_SIZE,
  SEGMENT_MEMORY_SIZE,
} from "./macho.ts"

/**
 * Ad-hoc code signatures of macOS executables, without Apple's tools:
 *
 *   bun scripts/sign.ts FILE…           sign
 *   bun scripts/sign.ts --check FILE…   check every hash and length
 *
 * The format is that of `codesign --sign -`: a code directory with SHA-256 hashes of all pages, a set of requirements,
 * an empty CMS message. Big-endian throughout; the kernel's cs_blobs.h describes it.
 */

/** The parts of a signature besides the code. */
export interface Seal {
  readonly identifier: string
  /** The files that the signature of a bundle's executable vouches for. */
  readonly bundle?: { readonly infoPlist: Buffer; readonly codeResources: Buffer }
}

const BARE: Seal = { identifier: "agent-desktop" }

/** The executable with a new signature in place of the old one. */
export function sign(executable: Buffer, seal: Seal = BARE): Buffer {
  const { signature, linkedit, text, pageSize } = readMachO(executable)
  const codeSize = signature.offset
  demand(codeSize % ALIGNMENT === 0, "the old signature is not aligned")
  demand(codeSize > linkedit.offset && codeSize <= executable.length, "the old signature is out of place")
  const size = roundUp(signatureSize(codeSize, seal), ALIGNMENT)
  const signed = Buffer.alloc(codeSize + size)
  executable.copy(signed, 0, 0, codeSize)
  // Before hashing, because the sizes are in the first page.
  const linkeditSize = codeSize + size - linkedit.offset
  signed.writeUInt32LE(size, signature.command + LINKEDIT_FILE_SIZE)
  signed.writeBigUInt64LE(BigInt(linkeditSize), linkedit.command + SEGMENT_FILE_SIZE)
  signed.writeBigUInt64LE(BigInt(roundUp(linkeditSize, pageSize)), linkedit.command + SEGMENT_MEMORY_SIZE)
  writeSignature(signed.subarray(codeSize), signed.subarray(0, codeSize), seal, text)
  return signed
}

/** Throws if the signature differs from the one that `sign` makes. The message says in which part. */
export function verify(executable: Buffer, seal: Seal = BARE): void {
  const { signature, linkedit, text, pageSize } = readMachO(executable)
  const end = signature.offset + signature.size
  demand(end <= executable.length, `the file is cut off: ${executable.length} of ${end} bytes`)
  demand(end === executable.length, `${executable.length - end} bytes follow the signature`)
  demand(linkedit.offset + linkedit.size === end, "__LINKEDIT does not end with the signature")
  demand(signature.offset > linkedit.offset, "the signature is not in __LINKEDIT")
  demand(
    linkedit.memorySize === roundUp(linkedit.size, pageSize),
    "__LINKEDIT's size in memory is not that of its content",
  )
  const blobs = readBlobs(executable.subarray(signature.offset, end))
  const directory = blobs.get(SLOT.directory)
  demand(blobs.size === 3 && directory, `the signature holds the slots ${[...blobs.keys()]}`)
  demand(blobs.get(SLOT.requirements)?.equals(requirementsOf(seal)), "the requirements are wrong")
  demand(blobs.get(SLOT.message)?.equals(NO_MESSAGE), "the CMS message is not empty")
  verifyDirectory(directory, executable.subarray(0, signature.offset), seal, text)
}

const ALIGNMENT = 16
const PAGE_BITS = 12
const PAGE = 1 << PAGE_BITS
const HASH = 32

const SLOT = { directory: 0, requirements: 2, resources: 3, message: 0x10000 } as const

const MAGIC = {
  signature: 0xfade0cc0,
  directory: 0xfade0c02,
  requirements: 0xfade0c01,
  requirement: 0xfade0c00,
  message: 0xfade0b01,
} as const

const NO_MESSAGE = words(MAGIC.message, 8)

/**
 * A bare executable has no requirements; macOS then identifies it by its hash. A bundle says
 * `designated => identifier "…"`, so that macOS treats the next version as the same program and keeps its grants.
 */
function requirementsOf({ identifier, bundle }: Seal): Buffer {
  if (!bundle) return words(MAGIC.requirements, 12, 0)
  const isExpression = 1
  const identifierEquals = 2
  const name = Buffer.alloc(roundUp(Buffer.byteLength(identifier), 4))
  name.write(identifier)
  const requirement = Buffer.concat([
    words(MAGIC.requirement, 20 + name.length, isExpression, identifierEquals, Buffer.byteLength(identifier)),
    name,
  ])
  const designated = 3
  const first = 20
  return Buffer.concat([
    words(MAGIC.requirements, first + requirement.length, 1, designated, first),
    requirement,
  ])
}

/** The hashes before those of the pages, the last slot first. A bare executable has no Info.plist: zeros. */
function specialHashes(seal: Seal): Buffer {
  const { infoPlist, codeResources } = seal.bundle ?? {}
  const hashes = [infoPlist ? sha256(infoPlist) : Buffer.alloc(HASH), sha256(requirementsOf(seal))]
  return Buffer.concat([...hashes, ...(codeResources ? [sha256(codeResources)] : [])].reverse())
}

/** The header before the blobs: magic, length, count, and slot and offset three times. */
const INDEX = 12 + 3 * 8

/** The size of the fields of a code directory of version 0x20400; its identifier and hashes follow. */
const DIRECTORY = 88

function signatureSize(codeSize: number, seal: Seal): number {
  return INDEX + directorySize(codeSize, seal) + requirementsOf(seal).length + NO_MESSAGE.length
}

function directorySize(codeSize: number, seal: Seal): number {
  return hashOffset(seal) + Math.ceil(codeSize / PAGE) * HASH
}

const specialSlots = ({ bundle }: Seal): number => (bundle ? SLOT.resources : SLOT.requirements)

const hashOffset = (seal: Seal): number =>
  DIRECTORY + Buffer.byteLength(seal.identifier) + 1 + specialSlots(seal) * HASH

function writeSignature(room: Buffer, code: Buffer, seal: Seal, text: MachO["text"]): void {
  const requirements = INDEX + directorySize(code.length, seal)
  const message = requirements + requirementsOf(seal).length
  words(
    MAGIC.signature,
    message + NO_MESSAGE.length,
    3,
    ...[SLOT.directory, INDEX],
    ...[SLOT.requirements, requirements],
    ...[SLOT.message, message],
  ).copy(room)
  const directory = room.subarray(INDEX, requirements)
  directoryFields(code, seal, text).copy(directory)
  directory.write(seal.identifier, DIRECTORY)
  specialHashes(seal).copy(directory, hashOffset(seal) - specialSlots(seal) * HASH)
  const hashes = directory.subarray(hashOffset(seal))
  for (let page = 0; page * PAGE < code.length; page++) hashOfPage(code, page).copy(hashes, page * HASH)
  requirementsOf(seal).copy(room, requirements)
  NO_MESSAGE.copy(room, message)
}

function directoryFields(code: Buffer, seal: Seal, text: MachO["text"]): Buffer {
  const version = 0x20400
  const adHoc = 0x2
  const sha256Type = 2
  const mainBinary = 1
  return Buffer.concat([
    words(MAGIC.directory, directorySize(code.length, seal), version, adHoc),
    words(hashOffset(seal), DIRECTORY, specialSlots(seal), Math.ceil(code.length / PAGE), code.length),
    Buffer.from([HASH, sha256Type, 0, PAGE_BITS]),
    // Spare, scatter, team, spare, and the 64-bit code limit, which only files above 4 GB need.
    words(0, 0, 0, 0, 0, 0),
    // The executable segment: offset, size, flags, 64 bits each.
    words(0, text.offset, 0, text.size, 0, mainBinary),
  ])
}

/** The blobs of a signature by slot. Throws if they leave a gap, overlap, or leave bytes over. */
function readBlobs(room: Buffer): ReadonlyMap<number, Buffer> {
  demand(room.length >= INDEX && room.readUInt32BE(0) === MAGIC.signature, "there is no signature")
  const length = room.readUInt32BE(4)
  const count = room.readUInt32BE(8)
  demand(length <= room.length && room.length - length < ALIGNMENT, "the signature has a wrong length")
  demand(
    room.subarray(length).every((byte) => byte === 0),
    "other bytes follow the signature",
  )
  const blobs = new Map<number, Buffer>()
  let next = 12 + count * 8
  for (let index = 0; index < count; index++) {
    demand(next + 8 <= length, "a blob is out of place")
    const slot = room.readUInt32BE(12 + index * 8)
    demand(room.readUInt32BE(16 + index * 8) === next, `the blob of slot ${slot} is out of place`)
    const end = next + room.readUInt32BE(next + 4)
    demand(end >= next + 8 && end <= length, `the blob of slot ${slot} has a wrong length`)
    blobs.set(slot, room.subarray(next, end))
    next = end
  }
  demand(next === length && blobs.size === count, "the blobs do not fill the signature")
  return blobs
}

function verifyDirectory(directory: Buffer, code: Buffer, seal: Seal, text: MachO["text"]): void {
  const pages = Math.ceil(code.length / PAGE)
  const fields = directoryFields(code, seal, text)
  const named = directory.toString("utf8", DIRECTORY, directory.indexOf(0, DIRECTORY))
  demand(named === seal.identifier, `the identifier is ${JSON.stringify(named)}`)
  demand(directory.subarray(0, DIRECTORY).equals(fields), "the code directory's fields are wrong")
  demand(directory.length === directorySize(code.length, seal), "the code directory has a wrong length")
  const first = hashOffset(seal)
  const special = specialHashes(seal)
  demand(directory.subarray(first - special.length, first).equals(special), "a special hash is wrong")
  const wrong = []
  for (let page = 0; page < pages; page++) {
    const hash = directory.subarray(first + page * HASH, first + (page + 1) * HASH)
    if (!hashOfPage(code, page).equals(hash)) wrong.push(page)
  }
  demand(
    wrong.length === 0,
    `${wrong.length} of ${pages} page hashes are wrong, the first of page ${wrong[0]}`,
  )
}

function hashOfPage(code: Buffer, page: number): Buffer {
  return sha256(code.subarray(page * PAGE, Math.min((page + 1) * PAGE, code.length)))
}

const sha256 = (bytes: Buffer): Buffer => new Bun.CryptoHasher("sha256").update(bytes).digest()

function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => {
    buffer.writeUInt32BE(value, index * 4)
  })
  return buffer
}

const roundUp = (size: number, unit: number): number => Math.ceil(size / unit) * unit

export async function signFile(path: string): Promise<void> {
  const signed = sign(await readFile(path))
  verify(signed)
  // A new file is renamed into place, because macOS caches the signature of a file that it has run.
  await Bun.write(`${path}.signed`, signed)
  await chmod(`${path}.signed`, 0o755)
  await rename(`${path}.signed`, path)
}

const readFile = async (path: string): Promise<Buffer> => Buffer.from(await Bun.file(path).arrayBuffer())

if (import.meta.main) {
  const isCheck = Bun.argv[2] === "--check"
  for (const path of Bun.argv.slice(isCheck ? 3 : 2)) {
    if (isCheck) verify(await readFile(path))
    else await signFile(path)
    console.log(`${path}: ${isCheck ? "valid" : "signed"}`)
  }
}
