import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { openInOffice } from "../support/office.ts"
import { until } from "../support/until.ts"
import { Dice } from "./bytes.ts"
import { python } from "./cells.ts"

/**
 * Selects parts of a text, types over them, and places the caret, all at random. The file that the app saves must be
 * the text that these steps make. Reading must change nothing: the file saved before the first step is the original,
 * although everything was read.
 */

export interface TextsOptions {
  readonly seed: number
  readonly steps: number
  readonly kind: TextKind
}

export const TEXT_KINDS = ["txt", "docx", "odt"] as const
export type TextKind = (typeof TEXT_KINDS)[number]

const START = "alpha beta gamma delta omega"
const WORDS = ["kelp", "Ärger", "日本語", "naïve", "p q", "123"]
/** Writer counts an emoji as two characters, and Mousepad as one. */
const EMOJI = ["😀x"]

/** Runs the steps. Returns the expected and the actual texts of the file. */
export async function fuzzTexts({ seed, steps, kind }: TextsOptions) {
  await using desktop = await openDesktop({ name: `texts-${kind}-${seed}` })
  const document = await openText(desktop, kind)
  const dice = new Dice(seed)
  let text = [...START]
  await document.read(text)
  // An app may not save a text that it regards as unchanged.
  const unread = await document.save()
  const done: string[] = []
  for (let step = 0; step < steps; step++) {
    const word = dice.pick(kind === "txt" ? [...WORDS, ...EMOJI] : WORDS)
    const start = dice.roll(text.length + 1)
    const end = Math.min(text.length, start + 1 + dice.roll(6))
    if (start < end && dice.roll(3) > 0) {
      done.push(`${start}:${end} ${word}`)
      const selected = await document.run("select-text", "--range", `${start}:${end}`)
      if (selected.text !== text.slice(start, end).join(""))
        throw new Error(`${done}: ${JSON.stringify(selected)} of ${text.join("")}`)
      await document.run("type", word)
      text = [...text.slice(0, start), ...word, ...text.slice(end)]
    } else {
      done.push(`${start} ${word}`)
      await document.run("caret", String(start))
      await document.run("type", word)
      text = [...text.slice(0, start), ...word, ...text.slice(start)]
    }
    await document.read(text)
  }
  return { done, unread, start: START, wanted: text.join(""), saved: await document.save(text.join("")) }
}

async function openText(desktop: TestDesktop, kind: TextKind) {
  const file = `${desktop.directory}/text.${kind}`
  if (kind === "txt") await Bun.write(file, START)
  else await python("new", file, START)
  const window =
    kind === "txt" ? await openInEditor(desktop, file) : await openInOffice(desktop, { part: "writer", file })
  const ref: string = await until(async () => {
    const query = ["--window-id", window, "--value", START, "--first", "--timeout-ms", "20000"]
    return (await desktop.run("find", ...query)).json?.data?.match?.ref_id
  }, 60_000)
  const run = async (verb: string, ...args: readonly string[]): Promise<Json> => {
    const { json, stdout } = await desktop.run(verb, ref, ...args, "--timeout-ms", "30000")
    if (!json?.ok) throw new Error(stdout)
    return json.data
  }
  return {
    run,
    /** Reads by every command that can read the text, and compares. */
    read: async (text: readonly string[]): Promise<void> => {
      const shown = (await run("get", "text")).value
      if (shown !== text.join("")) throw new Error(`It shows ${shown} instead of ${text.join("")}`)
      const half = text.length >> 1
      const part = (await run("get", "text", "--range", `${half}:${text.length}`)).value
      if (part !== text.slice(half).join("")) throw new Error(`It reads ${part} of ${text.join("")}`)
      for (const property of ["selection", "caret", "attributes"]) await run("get", property)
    },
    /** The text of the saved file, as soon as it is the wanted one, or after some time. */
    save: async (wanted?: string): Promise<string> => {
      const { json, stdout } = await desktop.run("press", "ctrl+s", "--window-id", window)
      if (!json?.ok) throw new Error(stdout)
      const read = async (): Promise<string> =>
        kind === "txt" ? Bun.file(file).text() : ((await python("read", file)) ?? []).join("\n")
      if (wanted !== undefined)
        await until(async () => (await read()).trimEnd() === wanted, 20_000).catch(() => undefined)
      return (await read()).trimEnd()
    },
  }
}

async function openInEditor(desktop: TestDesktop, file: string): Promise<string> {
  desktop.spawnApp(["mousepad", file])
  return until(async () => {
    const { json } = await desktop.run("list-windows")
    return json?.data?.windows.find((one: { title: string }) => one.title.includes("text.txt"))?.id
  }, 60_000)
}
