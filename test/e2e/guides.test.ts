import { expect, test } from "bun:test"
import { readFileSync, symlinkSync } from "node:fs"
import { blocksOf, PAGES } from "../docs/pages.ts"
import { openDesktop, PROGRAM } from "../support/desktop.ts"
import { writeProfile } from "../support/office.ts"

/** The pages as a reader follows them: every block of shell commands, in order, in one empty directory. */

const GUIDES = PAGES.filter(([path]) => path.startsWith("docs/guides/") || path === "docs/getting-started.md")

/** A second look at the effect of a guide, in its directory. */
const EFFECTS: Readonly<Record<string, (directory: string) => void>> = {
  "docs/guides/menus-and-dialogs.md": (directory) =>
    expect(readFileSync(`${directory}/letter.txt`, "utf8")).toBe("Dear reader,\nYours, Ada"),
}

test("the guides are there", () => {
  const pages = GUIDES.map(([path]) => path)
  expect(pages).toEqual(expect.arrayContaining(["docs/getting-started.md", "docs/guides/forms.md"]))
})

test.each(GUIDES)("every command of %s works", async (path, text) => {
  await using desktop = await openDesktop()
  symlinkSync(PROGRAM, `${desktop.directory}/agent-desktop`)
  // A reader closes LibreOffice's tip of the day once.
  await writeProfile(`${desktop.env.HOME}/.config/libreoffice/4`)
  const script = Bun.spawn(["bash", "-euxo", "pipefail", "-c", blocksOf(text, "sh").join("\n")], {
    cwd: desktop.directory,
    env: {
      ...desktop.env,
      PATH: `${desktop.directory}:${process.env.PATH}`,
      AGENT_DESKTOP_FORMAT: "text",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, log] = await Promise.all([
    new Response(script.stdout).text(),
    new Response(script.stderr).text(),
  ])
  expect(await script.exited, `${log}\n${out}`).toBe(0)
  EFFECTS[path]?.(desktop.directory)
})
