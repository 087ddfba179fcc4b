import { join } from "node:path"

export const ROOT = join(import.meta.dir, "../..")

/** Every page that people read: its path from the root of the project, and its text. */
export const PAGES: readonly (readonly [path: string, text: string])[] = await Promise.all(
  ["*.md", "docs/**/*.md", "skills/**/*.md"]
    .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })])
    .toSorted()
    .map(async (path) => [path, await Bun.file(join(ROOT, path)).text()] as const),
)

/** The code blocks of a page in a language, in order. */
export function blocksOf(page: string, language: string): readonly string[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, word, text = ""]) =>
    word === language ? [text] : [],
  )
}
