import { expect, test } from "bun:test"
import { fuzzTexts } from "./texts.ts"

test.each([
  { kind: "txt", seed: 1, steps: 4 },
  { kind: "docx", seed: 2, steps: 3 },
] as const)(
  "the $kind that an app saves is the text that selecting and typing makes, and reading changes nothing",
  async ({ kind, seed, steps }) => {
    const { unread, start, wanted, saved } = await fuzzTexts({ seed, steps, kind })
    expect(unread).toBe(start)
    expect(saved).toBe(wanted)
  },
  240_000,
)
