/** A minimal executable: header, two segments, and a foreign signature. */
export function executable(cpu: keyof typeof CPUS, { code = 9000, stale = 300, trailing = 0 } = {}): Buffer {
  const textSize = 4096
  const offset = Math.ceil((textSize + code) / 16) * 16
  const file = Buffer.alloc(offset + stale + trailing, 0xa5)
  const header = [0xfeedfacf, CPUS[cpu], 0, 2, 3, 72 + 72 + 16, 0, 0]
  const commands = [
    ...segment("__TEXT", 0, textSize),
    ...segment("__LINKEDIT", textSize, offset + stale - textSize),
    ...[0x1d, 16, offset, stale],
  ]
  ;[...header, ...commands].forEach((word, index) => {
    file.writeUInt32LE(word, index * 4)
  })
  return file
}

function segment(name: string, offset: number, size: number): number[] {
  const letters = Buffer.alloc(16)
  letters.write(name)
  const words = [0, 4, 8, 12].map((at) => letters.readUInt32LE(at))
  return [0x19, 72, ...words, offset, 1, size, 0, offset, 0, size, 0, 7, 5, 0, 0]
}

const CPUS = { x86_64: 0x01000007, arm64: 0x0100000c } as const
