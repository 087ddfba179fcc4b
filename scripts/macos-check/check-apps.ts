import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Check, changed, closeLater, expectEqual, type Mac, refOf, Skip } from "./mac.ts"
import { CONTACTS, FINDER, TERMINAL, TEXTEDIT } from "./scripts.ts"

/** Apple's own apps. Files and AppleScript judge the effects. */

/** Words with digits and capitals: no spelling correction changes them, in any language. */
const WORD = "A4711 Ä✓👋 Z0815"
const TEXT = `${WORD}\n${WORD}`

export const appChecks: readonly Check[] = [
  {
    about: "typing",
    title: "text typed into TextEdit and saved is in the file",
    touches: "opens a file of its own in TextEdit, and closes it",
    run: (mac) => typeAndSave(mac, "typed.txt"),
  },
  {
    about: "typing",
    title: "text typed into TextEdit by keys and saved is in the file",
    touches: "opens a file of its own in TextEdit, and closes it",
    run: (mac) => typeAndSave(mac, "keys.txt", "--input", "physical"),
  },
  {
    about: "sheets",
    title:
      "the sheet of TextEdit that asks where to save is found, takes a name, and blocks what is behind it",
    touches: "opens an empty document in TextEdit; cancels the sheet and closes the document without saving",
    run: async (mac) => {
      await mac.borrow(TEXTEDIT)
      await closeLater(mac, TEXTEDIT)
      await mac.script("newDocument")
      const behind = refOf(
        (await mac.nodes("--app", TEXTEDIT, "-i")).find(({ role }) => role === "textfield"),
        "text field in TextEdit",
      )
      mac.later("cancel the sheet", () => mac.desktop("press", "escape", "--app", TEXTEDIT))
      await mac.desktop("press", "cmd+s", "--app", TEXTEDIT)
      await mac.eventually(async () => {
        const { surfaces } = await mac.desktop("list-surfaces", "--app", TEXTEDIT)
        const types = surfaces.map(({ type }: { type: string }) => type)
        if (!types.includes("sheet")) throw new Error(`the surfaces are ${types.join(", ")}`)
      })
      const said = await mac.answer("clear", behind)
      if (said.error?.code !== "ACTION_FAILED" || said.error.disposition?.delivery !== "not_delivered")
        throw new Error(`the text behind the sheet was reached: ${JSON.stringify(said)}`)
      const nodes = await mac.nodes("--app", TEXTEDIT, "--surface", "sheet", "-i")
      const field = refOf(
        nodes.find(({ role }) => role === "textfield"),
        "text field in the sheet",
      )
      await mac.desktop("focus", field)
      await mac.desktop("clear", field)
      await mac.desktop("type", field, mac.nonce)
      await mac.eventually(async () => {
        const values = (await mac.script("look", TEXTEDIT, "sheet", "AXTextField", "value")).split("\n")
        if (!values.includes(mac.nonce))
          throw new Error(`the fields of the sheet are ${JSON.stringify(values)}`)
      })
      return undefined
    },
  },
  {
    about: "once, opening",
    title: "a file in Finder's icon view has a ref, and a double click opens it once",
    touches: "makes a small app in a folder of its own, opens that folder in Finder, and removes both",
    run: async (mac) => {
      const folder = join(mac.folder, `icons ${mac.nonce}`)
      const log = join(mac.folder, "opened.txt")
      mkdirSync(folder)
      writeFileSync(log, "")
      const note = `do shell script "echo opened >> " & quoted form of ${JSON.stringify(log)}`
      const source = ["on run", note, "end run", "on reopen", note, "end reopen"]
      await mac.run([
        "osacompile",
        "-o",
        join(folder, "count.app"),
        ...source.flatMap((line) => ["-e", line]),
      ])
      await closeLater(mac, FINDER)
      await mac.script("openFolder", folder, "icon view")
      const { id } = await mac.window(FINDER, mac.nonce)
      const file = await mac.eventually(async () => {
        const nodes = await mac.nodes("--window-id", id, "-i")
        return refOf(
          nodes.find(({ name }) => name?.startsWith("count")),
          "file in icon view",
        )
      })
      const said = await mac.answer("double-click", file)
      await mac.eventually(async () => {
        if (readFileSync(log, "utf8") === "") throw new Error(`it was not opened: ${JSON.stringify(said)}`)
      })
      // If the file is opened twice, the second opening comes later, by mouse.
      await mac.outside.pause(SECOND_MS)
      const times = readFileSync(log, "utf8").trim().split("\n").length
      if (times !== 1) throw new Error(`it was opened ${times} times: ${JSON.stringify(said)}`)
      return deliveryOf(said)
    },
  },
  {
    about: "complete",
    title: "rows of Finder's list view are read completely and can be selected",
    touches: "opens a folder of its own in Finder, and closes it",
    run: async (mac) => {
      const folder = join(mac.folder, `rows ${mac.nonce}`)
      mkdirSync(folder)
      for (const name of ["one.txt", "two.txt", "three.txt"]) writeFileSync(join(folder, name), name)
      await closeLater(mac, FINDER)
      await mac.script("openFolder", folder, "list view")
      const { id } = await mac.window(FINDER, mac.nonce)
      const nodes = await mac.eventually(async () => {
        const read = await mac.allNodes("--window-id", id)
        const texts = read.map(({ name, value }) => name ?? value ?? "")
        const missing = ["one", "two", "three"].filter((name) => !texts.some((text) => text.startsWith(name)))
        if (missing.length > 0) throw new Error(`the list does not show ${missing.join(", ")}`)
        return read
      })
      await mac.desktop(
        "wait",
        "--text",
        `absent ${mac.nonce}`,
        "--gone",
        "--window-id",
        id,
        "--timeout-ms",
        "5000",
      )
      const row = nodes.find(({ name, value, ref_id }) => ref_id && (name ?? value)?.startsWith("two"))
      const said = await mac.desktop("click", refOf(row, "row 'two' with a ref"))
      await mac.eventually(async () =>
        expectEqual((await mac.script("selection")).trim(), "two.txt", "Finder's selection"),
      )
      return `${nodes.length} nodes, ${said.disposition?.delivery}`
    },
  },
  {
    about: "opening",
    title: "a click in Finder's sidebar goes to that folder",
    touches: "opens a Finder window, and closes it",
    run: async (mac) => {
      await closeLater(mac, FINDER)
      const own = await mac.script("openFolder", mac.folder, "list view")
      const { id } = await mac.window(FINDER, mac.nonce)
      const before = await mac.script("folderOf", own)
      const lines = (await mac.script("sidebarFolders")).split("\n")
      const names = lines.filter((_, line) => line % 2 === 0 && lines[line + 1])
      const nodes = await mac.nodes("--window-id", id)
      const row = nodes.find(({ name, value, ref_id }) => ref_id && names.includes(name ?? value ?? ""))
      if (!row) throw new Skip(`the sidebar shows none of ${names.join(", ")} with a ref`)
      const said = await mac.desktop("click", refOf(row, "row of the sidebar"))
      await changed(mac, () => mac.script("folderOf", own), before, said, "the folder")
      const path = lines[lines.indexOf(row.name ?? row.value ?? "") + 1]
      expectEqual(await mac.script("folderOf", own), path, "the folder")
      return said.disposition?.delivery
    },
  },
  {
    about: "once",
    title: "a button of Contacts that answers with an error is pressed once",
    touches: "makes a contact of its own, edits it, and deletes it",
    run: async (mac) => {
      await mac.borrow(CONTACTS)
      mac.later("delete the contact", () => mac.script("deletePeople", mac.nonce))
      const person = await mac.script("makePerson", mac.nonce)
      await mac.run(["open", `addressbook://${person}`])
      const { id } = await mac.window(CONTACTS)
      const titles = async () =>
        (await mac.script("look", CONTACTS, "window", "AXButton", "title"))
          .split("\n")
          .filter((title) => title && title !== "missing value")
      const fields = async () =>
        (await mac.script("look", CONTACTS, "window", "AXTextField", "role")).split("\n").filter(Boolean)
          .length
      const before = { titles: await titles(), fields: await fields() }
      // Of the buttons below a card, only the one that edits it shows a word instead of a picture.
      const title = before.titles.at(-1)
      if (!title) throw new Skip("Contacts shows no button with a title")
      const nodes = await mac.nodes("--window-id", id)
      const edit = nodes.find(({ role, name }) => role === "button" && name === title)
      mac.later("end editing", async () => {
        const now = (await titles()).find((one) => !before.titles.includes(one))
        if (now) await mac.script("pressButton", CONTACTS, now)
      })
      const said = await mac.answer("click", refOf(edit, `button '${title}'`))
      await mac.outside.pause(SECOND_MS)
      const after = { titles: await titles(), fields: await fields() }
      if (after.fields <= before.fields && after.titles.includes(title))
        throw new Error(`the card is not being edited; pressed twice, or not at all: ${JSON.stringify(said)}`)
      return `${before.fields} fields before, ${after.fields} after, ${deliveryOf(said)}`
    },
  },
  {
    about: "typing",
    title: "text typed into Terminal reaches the program that runs there",
    touches: "opens a Terminal window, and closes it",
    run: async (mac) => {
      const typed = join(mac.folder, "terminal.txt")
      const pid = join(mac.folder, "terminal.pid")
      await mac.borrow(TERMINAL)
      await closeLater(mac, TERMINAL)
      // Terminal asks before it closes a window in which a program still runs.
      mac.later("end the program in Terminal", async () => {
        if (existsSync(pid)) await mac.outside.run(["kill", readFileSync(pid, "utf8").trim()])
      })
      await mac.script("runInTerminal", `echo $$ > '${pid}'; exec cat > '${typed}'`)
      await mac.eventually(async () => void readFileSync(typed))
      const { id } = await mac.window(TERMINAL)
      const nodes = await mac.nodes("--window-id", id, "-i")
      const screen = refOf(
        nodes.find(({ role }) => role === "textfield"),
        "text in Terminal",
      )
      const said = await mac.answer("type", screen, WORD)
      await mac.desktop("press", "return", "--app", TERMINAL)
      await mac.desktop("press", "ctrl+d", "--app", TERMINAL)
      await mac.eventually(async () =>
        expectEqual(readFileSync(typed, "utf8"), `${WORD}\n`, "the typed text"),
      )
      return deliveryOf(said)
    },
  },
]

/** Waits long enough for a second press or a second opening to show. */
const SECOND_MS = 2000

async function typeAndSave(mac: Mac, file: string, ...how: readonly string[]): Promise<string | undefined> {
  const path = join(mac.folder, `${mac.nonce} ${file}`)
  writeFileSync(path, "")
  await mac.borrow(TEXTEDIT)
  mac.later("close the file", () => mac.script("closeFile", path))
  await mac.run(["open", "-b", TEXTEDIT, path])
  // Use a new name each time: TextEdit asks before it saves a file that another program has changed.
  const { id } = await mac.window(TEXTEDIT, `${mac.nonce} ${file.replace(".txt", "")}`)
  const nodes = await mac.nodes("--window-id", id, "-i")
  const field = refOf(
    nodes.find(({ role }) => role === "textfield"),
    "text field in TextEdit",
  )
  const said = await mac.answer("type", field, TEXT, ...how)
  await mac.desktop("press", "cmd+s", "--app", TEXTEDIT)
  await mac.eventually(async () => expectEqual(readFileSync(path, "utf8"), TEXT, "the file"))
  return deliveryOf(said)
}

function deliveryOf(said: Awaited<ReturnType<Mac["answer"]>>): string {
  return said.ok
    ? `${said.data?.disposition?.delivery} by ${said.data?.method}`
    : `${said.error?.code}, ${said.error?.disposition?.delivery}`
}
