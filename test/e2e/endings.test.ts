import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Apps that end normally or crash because of a click, and apps that refuse it. Their own logs have the presses. */

const HERE = new URL("../fixtures/", import.meta.url).pathname

let desktop: TestDesktop
let started = 0

beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop?.close())

interface Pressed {
  readonly answer: Json
  /** The fixture's own log. */
  readonly presses: string
}

/** Starts the fixture, presses one of its buttons, and ends the fixture unless it has ended. */
async function press(
  fixture: readonly string[],
  title: string,
  name: string,
  { wrapped = (command: readonly string[]) => command, verb = ["click"] as readonly string[] } = {},
): Promise<Pressed> {
  const log = `${desktop.directory}/presses-${++started}`
  const command = wrapped(["/usr/bin/python3", ...fixture])
  const app = desktop.spawnApp(command, { env: { FIXTURE_LOG: log } })
  try {
    const id = await until(async () => {
      const { json } = await desktop.run("list-windows")
      return json?.data?.windows.find((one: { title: string }) => one.title === title)?.id
    }, 30_000)
    const ref = await until(async () => {
      const { json } = await desktop.run("find", "--window-id", id, "--name", name, "--exact", "--first")
      return json?.data?.match?.ref_id
    }, 30_000)
    const [word = "", ...more] = verb
    const { json } = await desktop.run(word, ref, ...more, "--timeout-ms", "20000")
    const presses = await until(() => Bun.file(log).text())
    return { answer: json.data ?? json.error, presses }
  } finally {
    app.kill("SIGKILL")
    await app.exited
    await until(async () => {
      const { json } = await desktop.run("list-windows")
      return !json.data.windows.some((one: { title: string }) => one.title === title)
    })
  }
}

/** Runs the command below a parent that never collects it. */
const uncollected = (command: readonly string[]): readonly string[] => [
  "sh",
  "-c",
  '"$@" & exec sleep 60',
  "sh",
  ...command,
]

describe.each(["gtk3", "gtk4", "qt6"])("in %s, a click that ends its app", (toolkit) => {
  const pressing = (name: string, options?: Parameters<typeof press>[3]) =>
    press([`${HERE}ending.py`, toolkit], `Ending ${toolkit}`, name, options)

  test.each([
    ["Crash", { signal: "SIGSEGV" }],
    ["Kill", { signal: "SIGKILL" }],
    ["Fail", { exit_code: 3 }],
  ])("by %s has failed", async (name, how) => {
    const { answer, presses } = await pressing(name)
    expect(presses).toBe(`${name}\n`)
    // Before Linux 6.15 only the parent learns how a process ended, if it collects it at once.
    if (!("code" in answer)) {
      expect(await linuxTells()).toBe(false)
      expect(answer).toMatchObject({ app_ended: true, disposition: { delivery: "delivered_unverified" } })
      return
    }
    expect(answer).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "app_ended", ...how },
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
  })

  test.each([
    ["Crash", "ACTION_FAILED"],
    ["Leave", undefined],
  ])(
    "by %s is recognized on every kernel, as long as its parent has not collected its status",
    async (name, code) => {
      const { answer, presses } = await pressing(name, { wrapped: uncollected })
      expect(presses).toBe(`${name}\n`)
      expect(answer.code).toBe(code)
      if (!code) expect(answer.app_ended).toBe(true)
    },
  )

  test.each(["Quit", "Close", "Leave"])("by %s has not failed", async (name) => {
    const { answer, presses } = await pressing(name)
    expect(presses).toBe(`${name}\n`)
    expect(answer).toMatchObject({ action: "click", element: { role: "button", name } })
    expect(answer.disposition.delivery).toStartWith("delivered_")
  })
})

async function linuxTells(): Promise<boolean> {
  const [major = 0, minor = 0] = (await Bun.file("/proc/sys/kernel/osrelease").text()).split(".").map(Number)
  return major > 6 || (major === 6 && minor >= 15)
}

describe("an app that answers no", () => {
  const pressing = (name: string, ...verb: readonly string[]) =>
    press([`${HERE}refusing.py`], "Refusing", name, verb.length > 0 ? { verb } : {})

  test("and does nothing has refused", async () => {
    const { answer, presses } = await pressing("Refuses")
    expect(presses).toBe("Refuses\n")
    expect(answer).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringMatching(
        /^Click action failed on @e\d+: the app refused it, and nothing changed$/,
      ),
      platform_detail: "Action.DoAction answered false",
      details: { kind: "refused" },
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
  })

  test.each([
    ["Lies", "click", "delivered_verified"],
    ["Lies", "check", "delivered_verified"],
    ["Lies elsewhere", "click", "delivery_uncertain"],
    ["Lies late", "click", "delivery_uncertain"],
  ])("and does it (%s, %s) has not failed", async (name, verb, delivery) => {
    const { answer, presses } = await pressing(name, verb)
    expect(presses).toBe(`${name}\n`)
    expect(answer).toMatchObject({ action: verb, disposition: { delivery } })
  })

  test("and shows nothing, like a terminal that asks for a password, has not contradicted the text", async () => {
    const { answer, presses } = await pressing("Prompt", "type", "hunter 2")
    expect(presses).toBe("hunter 2")
    expect(answer).toMatchObject({
      element: { role: "terminal", name: "Prompt" },
      method: "keyboard",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test("is not asked twice, and does not fail, if it exits normally instead of answering", async () => {
    const { answer, presses } = await pressing("Leaves")
    expect(presses).toBe("Leaves\n")
    if (await linuxTells()) expect(answer).toMatchObject({ app_ended: true })
    else expect(answer).toMatchObject({ details: { kind: "app_ended" } })
  })

  test("has failed if it is killed instead of answering", async () => {
    const { answer, presses } = await pressing("Dies")
    expect(presses).toBe("Dies\n")
    expect(answer).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "app_ended" },
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
  })
})
