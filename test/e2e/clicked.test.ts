import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Programs that react to the click on a check box, not to its state. They print each click. */

describe.each(["qt5", "qt6"])("in %s", (toolkit) => {
  let desktop: TestDesktop
  let output: string

  beforeAll(async () => {
    desktop = await openDesktop()
    output = `${desktop.directory}/output`
    const program = `${import.meta.dir}/../fixtures/clicked.py`
    desktop.spawnApp(["sh", "-c", `/usr/bin/python3 ${program} ${toolkit} > ${output}`])
    await until(
      async () => (await desktop.run("snapshot", "--app", "clicked")).json?.data?.ref_count === 4,
      30_000,
    )
  }, 60_000)
  afterAll(() => desktop?.close())

  test.each([
    ["click", 'checkbox "Agree"', "Agree True"],
    ["uncheck", 'checkbox "Agree"', "Agree False"],
    ["check", 'radiobutton "Small"', "Small True"],
    ["toggle", '"Bold"', "Bold True"],
    ["click", '"Underline"', "Underline True"],
    ["uncheck", '"Underline"', "Underline False"],
  ])("%s %s is a click for the program", async (command, target, line) => {
    const { json } = await desktop.run(command, target, "--app", "clicked")
    expect(json.data?.disposition.delivery ?? json.error).toBe("delivered_verified")
    const lines = await until(async () => {
      const printed = (await Bun.file(output).text()).trim().split("\n")
      return printed.includes(line) && printed
    })
    expect(lines.filter((one) => one === line)).toHaveLength(1)
  })

  test("with --input semantic it changes without the pointer", async () => {
    const { json } = await desktop.run("check", 'checkbox "Agree"', "--app", "clicked", "--input", "semantic")
    expect(json.data).toMatchObject({ method: "atspi:toggle", post_state: { states: expect.anything() } })
  })
})
