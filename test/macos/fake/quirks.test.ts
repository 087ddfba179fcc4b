import { ptr } from "bun:ffi"
import { afterEach, describe, expect, test } from "bun:test"
import { until } from "../../support/until.ts"
import {
  mac as api,
  application,
  constant,
  copy,
  find,
  items,
  perform,
  read,
  withString,
  write,
} from "./client.ts"
import { finish, keep, release, start } from "./stage.ts"

afterEach(finish)

describe("quirks of applications", () => {
  test("children that only a ranged read returns", () => {
    start("quirks")
    const group = keep(find(keep(application(8000)), "Children only by range"))
    expect(copy(group, "AXChildren").error).toBe(-25205)
    const out = new BigUint64Array(1)
    const error = withString("AXChildren", (name) =>
      api().AXUIElementCopyAttributeValues(group, name, 0n, 10n, ptr(out)),
    )
    expect([error, items(keep(out[0])).length]).toEqual([0, 1])
  })

  test("values of unexpected types", () => {
    start("quirks")
    const app = keep(application(8000))
    expect(read(keep(find(app, "Attributed")), "AXValue").value).toEqual({ attributed: "styled text" })
    expect(read(keep(find(app, "Children are no array")), "AXChildren").value).toBe("none")
    expect(read(keep(find(app, "Children are numbers")), "AXChildren").value).toEqual([1, 2])
    expect(read(keep(find(app, "No role")), "AXRole").error).toBe(-25200)
    expect(read(keep(find(app, "Null role")), "AXRole").value).toBe(null)
    expect(read(keep(find(app, "No frame")), "AXFrame").error).toBe(-25205)
    expect(read(keep(find(app, "half \ud83d end")), "AXValue").value).toBe("half \ud83d end")
  })

  test("an element that dies while it is read", () => {
    start("quirks")
    expect(find(keep(application(8000)), "Dies when looked at")).toBeUndefined()
  })

  test("result codes that lie both ways", () => {
    const mac = start("quirks")
    const app = keep(application(8000))
    expect(perform(keep(find(app, "Says error, does it")), "AXPress")).toBe(-25204)
    expect(mac.look("lying-error").AXTitle).toBe("Done")
    expect(perform(keep(find(app, "Says success, does nothing")), "AXPress")).toBe(0)
    expect(mac.look("lying-success").AXTitle).toBe("Says success, does nothing")
  })

  test("an answer after the timeout, whose effect has happened", () => {
    const mac = start("quirks", { virtualClock: true })
    const slow = keep(find(keep(application(8000)), "Answers late"))
    api().AXUIElementSetMessagingTimeout(slow, 1)
    expect(perform(slow, "AXPress")).toBe(-25204)
    expect(mac.look("slow").AXTitle).toBe("Answered")
    expect(mac.report().slept_us).toBeGreaterThanOrEqual(1_000_000)
  })

  test("no answer at all: the timeout of the element applies, or else that of the process", () => {
    const mac = start("quirks", { virtualClock: true })
    const frozen = keep(application(8100))
    const waited = () => {
      const before = mac.report().slept_us
      expect(read(frozen, "AXRole")).toEqual({ error: -25204 })
      return Math.round((mac.report().slept_us - before) / 1e6)
    }
    // Another test in this process may have set it.
    const system = keep(api().AXUIElementCreateSystemWide())
    api().AXUIElementSetMessagingTimeout(system, 0)
    expect(waited()).toBe(6)
    api().AXUIElementSetMessagingTimeout(system, 2)
    expect(waited()).toBe(2)
    api().AXUIElementSetMessagingTimeout(frozen, 1)
    expect(waited()).toBe(1)
    api().AXUIElementSetMessagingTimeout(frozen, 0)
    api().AXUIElementSetMessagingTimeout(system, 0)
    expect(waited()).toBe(6)
  })

  test("a web tree that appears late, after a switch that reads back as off", async () => {
    const mac = start("electron")
    const app = keep(application(6000))
    expect(find(app, "Example")).toBeUndefined()
    expect(write(app, "AXManualAccessibility", constant("kCFBooleanTrue"))).toBe(0)
    expect(read(app, "AXManualAccessibility").value).toBe(false)
    await until(() => mac.look("page").shows === true)
    expect(read(keep(find(app, "Example")), "AXRole").value).toBe("AXWebArea")
  })

  test("a table of ten thousand rows, few of them visible", () => {
    const mac = start("table")
    const table = keep(find(keep(application(7000)), "Rows"))
    expect(items(keep(copy(table, "AXRows").ref)).length).toBe(10_000)
    expect(items(keep(copy(table, "AXVisibleRows").ref)).length).toBe(30)
    expect(mac.look("value-9999").AXValue).toBe("9999")
    mac.apply({ do: "show", node: "row-5000" })
    const rows = items(keep(copy(table, "AXVisibleRows").ref))
    expect(read(rows.at(-1) ?? 0n, "AXFrame").value).toEqual([100, 690, 785, 20])
  })

  test("reading the value of a secure field is a violation", () => {
    const mac = start("example-login")
    const field = keep(find(keep(application(4567)), "Password"))
    expect(mac.report().violations).toEqual([])
    read(field, "AXValue")
    expect(mac.report().violations[0]?.kind).toBe("secure_value")
    release()
    mac.mark()
  })

  test("no permission", () => {
    const mac = start({ trust: { accessibility: false }, apps: [{ pid: 7, name: "A" }] })
    expect(api().AXIsProcessTrusted()).toBe(0)
    expect(read(keep(application(7)), "AXRole")).toEqual({ error: -25211 })
    mac.apply({ do: "grant", what: "accessibility", to: true })
    expect(read(keep(application(7)), "AXRole").value).toBe("AXApplication")
  })

  test("processes that have ended or never existed", () => {
    const mac = start("example-finder")
    const [known, unknown] = [keep(application(1234)), keep(application(99))]
    expect(read(unknown, "AXRole").error).toBe(-25204)
    mac.apply({ do: "quit", app: 1234 })
    expect(read(known, "AXRole").error).toBe(-25202)
  })
})
