import { join } from "node:path"

/** A file under packaging/. */
export function template(path: string): Promise<string> {
  return Bun.file(join(import.meta.dir, "../packaging", path)).text()
}

/** Replaces every {{word}} with its value. Throws for a word without a value, or a value without its word. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  for (const word of Object.keys(values))
    if (!text.includes(`{{${word}}}`)) throw new Error(`The template has no {{${word}}}`)
  return text.replace(/\{\{(\S+?)\}\}/g, (_, word: string) => {
    const value = values[word]
    if (value === undefined) throw new Error(`Nothing to fill {{${word}}} in with`)
    return value
  })
}
