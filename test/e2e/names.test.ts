import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { nodesOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Zenity's fields have no names, its labels no relation to them, and both come in reverse order. It prints what it got. */

let desktop: TestDesktop
let output: string

beforeAll(async () => {
  desktop = await openDesktop()
  output = `${desktop.directory}/output`
  const form = "zenity --forms --title=Form --add-entry=City --add-entry=Street --add-password=Word"
  desktop.spawnApp(["sh", "-c", `${form} > ${output}`])
  await until(
    async () => (await desktop.run("snapshot", "--app", "zenity")).json?.data?.ref_count === 5,
    30_000,
  )
}, 60_000)
afterAll(() => desktop?.close())

test("fields are named by the labels beside them, and shown in reading order", async () => {
  const { json } = await desktop.run("snapshot", "--app", "zenity")
  const fields = nodesOf(json.data.tree).filter(({ role }) => role === "textfield")
  expect(fields).toMatchObject([
    { ref_id: "@e1", name: "City", name_inferred: true },
    { ref_id: "@e2", name: "Street", name_inferred: true },
    { ref_id: "@e3", name: "Word", name_inferred: true, states: ["enabled", "secure"] },
  ])
  const { stdout } = await desktop.run("snapshot", "--app", "zenity", "--compact", "--format", "text")
  expect(stdout.match(/City/g)).toHaveLength(1)
  expect(stdout).toContain('textfield "City"? [@e1]')
})

test("an inferred name is not part of a field's identity, and text goes to the field that has it", async () => {
  const fields = { Street: "Main 1", City: "Bern" }
  for (const [name, text] of Object.entries(fields)) {
    const found = await desktop.run(
      "find",
      "--app",
      "zenity",
      "--role",
      "textfield",
      "--name",
      name,
      "--first",
    )
    const ref = found.json.data.match.ref_id
    expect((await desktop.run("set-value", ref, text)).json.data.disposition.delivery).toBe(
      "delivered_verified",
    )
  }
  const map = await Bun.file(`${desktop.home}/last_refmap.json`).text()
  expect(map).not.toContain("Street")
  const ok = await desktop.run("find", "--app", "zenity", "--role", "button", "--name", "OK", "--first")
  await desktop.run("click", ok.json.data.match.ref_id)
  expect(await until(() => Bun.file(output).text())).toBe("Bern|Main 1|\n")
})

describe.each(["qt5", "qt6"])("in %s", (toolkit) => {
  let frames: TestDesktop
  beforeAll(async () => {
    frames = await openDesktop()
    frames.spawnApp(["/usr/bin/python3", `${import.meta.dir}/../fixtures/frames.py`, toolkit])
    await until(
      async () => (await frames.run("snapshot", "--app", "frames")).json?.data?.ref_count === 6,
      30_000,
    )
  }, 60_000)
  afterAll(() => frames?.close())

  test("fields have the names of the labels beside them, or else the title of the frame, or the tool tip", async () => {
    const { json } = await frames.run("snapshot", "--app", "frames")
    const named = nodesOf(json.data.tree).filter(({ ref_id }) => ref_id)
    expect(
      named.map(({ role, name, value, name_inferred }) => [role, name, value, name_inferred ?? false]),
    ).toEqual([
      ["incrementor", "Delay:", "0", true],
      ["textfield", "Folder:", "", false],
      ["combobox", "View:", "Icons", true],
      ["textfield", "Comment", "", true],
      ["incrementor", "Height:", "0", true],
      ["incrementor", "Size of the font", "0", true],
    ])
  })

  test("a field that its frame names is found by its label, and keeps its ref", async () => {
    const { json } = await frames.run("set-value", 'incrementor "Delay"', "7", "--app", "frames")
    const ref = json.data.ref_id
    expect((await frames.run("get", ref, "value")).json.data.value).toBe("7")
    const chosen = await frames.run("select", 'combobox "View"', "List", "--app", "frames")
    expect(chosen.json.data?.disposition.delivery ?? chosen.json.error).toBe("delivered_verified")
  })
})
