import { afterAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../../src/errors.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { FakeElement, Spec } from "../support/fake-world.ts"
import { at, cancel, PLATFORMS, save, shown } from "./shown.ts"

afterAll(clearDesks)

describe.each(PLATFORMS)("found again %s", (_, platform) => {
  test("an unchanged element is acted on", async () => {
    const { ok, world, ref } = await shown([save, cancel], platform)
    await ok("click", { ref_id: await ref("Cancel") })
    expect(world.sent("Cancel")).toEqual(["semantic click"])
    expect(world.sent("Save")).toEqual([])
  })

  test("e1 and @e1 are the same ref, and answers spell it @e1", async () => {
    const { ok, run } = await shown([save], platform)
    expect((await ok("click", { ref_id: "e1" })).ref_id).toBe("@e1")
    expect((await ok("get", { ref_id: "e1", property: "name" })).ref_id).toBe("@e1")
    expect((await run("click", { ref_id: "e7" })).error.message).toBe("@e7 not found in current RefMap")
  })

  test("values, states and bounds are not part of the identity", async () => {
    const { ok, world } = await shown([{ ...save, role: "textfield", value: "a" }], platform)
    world.at("Save").set({ value: "b", states: ["enabled", "focused"], bounds: at(500, 500) })
    expect((await ok("get", { ref_id: "@e1", property: "value" })).value).toBe("b")
  })

  test("an element that moved among its siblings is found if it is unique", async () => {
    const { ok, world, window } = await shown([save, cancel], platform)
    window.root.add({ role: "button", name: "Help", bounds: at(0, 0) }, 0)
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
    expect(world.sent("Help")).toEqual([])
  })

  test("a removed element is stale, and nothing is sent", async () => {
    const { error, world } = await shown([save, cancel], platform)
    world.at("Save").remove()
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused.code).toBe("STALE_REF")
    expect(refused.suggestion).toBe("Run 'snapshot' to refresh, then retry with updated ref")
    expect(refused.disposition).toEqual({ delivery: "not_delivered", retry: "safe" })
    expect(world.deliveries).toEqual([])
  })

  test("a renamed element is stale, and the message has both names", async () => {
    const { error, world } = await shown([save], platform)
    world.at("Save").set({ name: "Saved" })
    expect(await error("click", { ref_id: "@e1" })).toMatchObject({
      code: "STALE_REF",
      message: "@e1 is stale: its name was 'Save' and is 'Saved' now",
      details: { evidence: "its name was 'Save' and is 'Saved' now" },
    })
    expect(world.deliveries).toEqual([])
  })

  test("an element with a new role is stale", async () => {
    const { error, world } = await shown([save], platform)
    world.at("Save").set({ role: "link" })
    expect((await error("click", { ref_id: "@e1" })).message).toBe(
      "@e1 is stale: it was a button and is a link now",
    )
  })

  test("an element with a new identifier is stale", async () => {
    const { error, world } = await shown([{ ...save, identifier: "save-1" }], platform)
    world.at("Save").identifier = "save-2"
    expect((await error("click", { ref_id: "@e1" })).message).toContain("its identifier was 'save-1'")
  })

  test("all refs of a process are stale once it ended or its pid was reused", async () => {
    const { error, app, world } = await shown([save], platform)
    app.restart()
    app.window("Inbox", [save], { id: "w-1" })
    expect((await error("click", { ref_id: "@e1" })).message).toBe(
      "@e1 is stale: process 10 is a different one now; Mail was restarted",
    )
    app.end()
    expect((await error("click", { ref_id: "@e1" })).message).toBe(
      "@e1 is stale: process 10 of Mail has ended",
    )
    expect(world.deliveries).toEqual([])
  })

  test("elements of a closed window are stale, even if another window shows the same", async () => {
    const { error, app, window, world } = await shown([save], platform)
    window.close()
    app.window("Inbox", [save], { id: "w-2" })
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("a failed read does not mean that the element is gone", async () => {
    const { error, world } = await shown([save], platform)
    for (const method of ["processStart", platform.addresses ? "open address" : "open path"]) {
      world.fail(method, new AppError("APP_UNRESPONSIVE", "No answer"))
      expect(await error("click", { ref_id: "@e1" })).toMatchObject({
        code: "APP_UNRESPONSIVE",
        disposition: { delivery: "not_delivered" },
      })
    }
    world.at("Save").remove()
    world.fail("tree", new AppError("APP_UNRESPONSIVE", "No answer"))
    // If objects live as long as their elements, a missing address proves that the element is gone.
    const code = platform.addresses ? "STALE_REF" : "APP_UNRESPONSIVE"
    expect((await error("click", { ref_id: "@e1" })).code).toBe(code)
    expect(world.deliveries).toEqual([])
  })

  test("an element missing in a partly read tree may still exist", async () => {
    const { error, world, window } = await shown([cancel, { ...save, isRecycled: true }], platform)
    window.root.add({ role: "group", name: "New" }, 0)
    world.at("Save").remove()
    world.nodeLimit = 2
    expect(await error("click", { ref_id: "@e2" })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "search" },
    })
  })

  test("a combobox named after its value stays the same if the value changes", async () => {
    const size: Spec = { role: "combobox", name: "10", value: "10", bounds: at(0, 0) }
    const { ok, world, window } = await shown([size, save], platform)
    window.root.children[0]!.set({ name: "12", value: "12" })
    expect((await ok("get", { ref_id: "@e1", property: "value" })).value).toBe("12")
    await ok("select", { ref_id: "@e1", value: "14" })
    expect(world.deliveries.map(({ kind }) => kind)).toEqual(["select"])
  })

  test("a field whose text equals its name stays the same field", async () => {
    const { ok, world } = await shown([{ role: "textfield", name: "Name", value: "" }], platform)
    world.at("Name").set({ value: "Name" })
    expect((await ok("get", { ref_id: "@e1", property: "value" })).value).toBe("Name")
  })

  test("a row whose text is also its value is identified by that text", async () => {
    const file: Spec = { role: "cell", name: "App", value: "App", bounds: at(0, 0) }
    const { error, world } = await shown([file], platform)
    world.at("App").set({ name: "AppDelegate", value: "AppDelegate" })
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("a very long name is recognized, and an error about it stays short", async () => {
    const long = "x".repeat(100_000)
    const { ok, error, world } = await shown([{ ...save, name: long }], platform)
    await ok("click", { ref_id: "@e1" })
    world.at(long).set({ name: `${long}y` })
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused.code).toBe("STALE_REF")
    expect(refused.message.length).toBeLessThan(400)
  })
})

describe("similar elements", () => {
  const twins: Spec[] = [
    { role: "group", children: [{ role: "button", name: "Delete", bounds: at(0, 0) }] },
    { role: "group", children: [{ role: "button", name: "Delete", bounds: at(0, 30) }] },
  ]

  test("by address, each of two twins is itself even after a move", async () => {
    const { ok, window } = await shown(twins)
    const [first, second] = window.root.children.map((group) => group.children[0]!)
    first!.name = "Delete"
    second!.moveTo(window.root.children[0]!, 0)
    const received: string[] = []
    first!.does = () => received.push("first")
    second!.does = () => received.push("second")
    await ok("click", { ref_id: "@e2" })
    expect(received).toEqual(["second"])
  })

  test("by address, a removed twin is not replaced by the remaining one", async () => {
    const { error, window, world } = await shown(twins)
    window.root.children[1]!.remove()
    expect((await error("click", { ref_id: "@e2" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("by path, a twin is recognized only while its bounds stay the same", async () => {
    const { ok, error, window, world } = await shown(twins, { addresses: false })
    await ok("click", { ref_id: "@e1" })
    window.root.children[0]!.children[0]!.set({ bounds: at(0, 60) })
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused).toMatchObject({ code: "STALE_REF", details: { certain: false } })
    expect(world.deliveries.length).toBe(1)
  })

  test("by path, an element without a name is recognized only while it does not move", async () => {
    const { ok, error, window } = await shown([{ role: "button", bounds: at(0, 0) }], { addresses: false })
    await ok("click", { ref_id: "@e1" })
    window.root.children[0]!.set({ bounds: at(9, 9) })
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
  })

  test("a name that is no longer unique is ambiguous", async () => {
    const { error, window, world } = await shown([save], { addresses: false })
    window.root.add({ ...save, bounds: at(0, 90) }, 0)
    window.root.children[0]!.role = "link"
    window.root.add({ ...save, bounds: at(0, 120) })
    const refused = await error("click", { ref_id: "@e1" })
    expect(refused.code).toBe("AMBIGUOUS_TARGET")
    expect(refused.details.candidates).toEqual([
      { role: "button", name: "Save", bounds: at(10, 10) },
      { role: "button", name: "Save", bounds: at(0, 120) },
    ])
    expect(world.deliveries).toEqual([])
  })

  test("a similar element elsewhere in the window is another element", async () => {
    const { error, window, world } = await shown(
      [
        { role: "group", name: "Draft", children: [save] },
        { role: "group", name: "Template", children: [] },
      ],
      { addresses: false },
    )
    window.root.children[0]!.children[0]!.remove()
    window.root.children[1]!.add(save)
    expect((await error("click", { ref_id: "@e1" })).message).toContain("look-alike")
    expect(world.deliveries).toEqual([])
  })

  test("numbers in the names above may change, since they are counters", async () => {
    const { ok, window, world } = await shown([{ role: "group", name: "Inbox (3)", children: [save] }], {
      addresses: false,
    })
    window.root.children[0]!.name = "Inbox (4)"
    window.title = "Inbox (4)"
    window.root.name = "Inbox (4)"
    window.root.add({ role: "toolbar" }, 0)
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
  })
})

describe("elements that live as long as their objects", () => {
  test("an element that took the place and name of another is another one", async () => {
    const { error, window, world } = await shown([save, cancel])
    window.root.children[0]!.remove()
    window.root.add(save, 0)
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("an element that got another's name is another one", async () => {
    const { error, world } = await shown([save, cancel])
    world.at("Save").name = "Save as"
    world.at("Cancel").name = "Save"
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("an element for which the platform creates new objects is found by its content", async () => {
    const { ok, window, world } = await shown([{ ...save, isRecycled: true }, cancel])
    window.root.children[0]!.remove()
    window.root.add(save)
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
  })
})

describe("each verdict of each route has one consequence", () => {
  const recycled: Spec = { ...save, isRecycled: true }
  const nameless: Spec = { role: "button", bounds: at(10, 10) }
  const options = (isRecycled?: boolean): Spec[] =>
    ["a", "b"].map((name) => ({ role: "option", name, isRecycled, bounds: at(10, 10) }))
  const nothing = (): void => {}
  const rename = (root: FakeElement): void => root.children[0]!.set({ name: "Saved" })
  const remove = (root: FakeElement): void => root.children[0]!.remove()
  const replace = (root: FakeElement): void => {
    root.children[0]!.remove()
    root.add(save, 0)
  }
  const pushAside = (root: FakeElement): void => {
    root.children[0]!.set({ name: "Saved" })
    root.add(save, 0)
  }
  const insert = (root: FakeElement): void => void root.add(cancel, 0)
  const exchange = (root: FakeElement): void => {
    root.children[0]!.set({ name: "b" })
    root.children[1]!.set({ name: "a" })
  }
  const LASTING = { addresses: true }
  const PATH = { addresses: false }

  test.each([
    ["lasting address", "same", [save], LASTING, nothing, "address", "ok"],
    ["lasting address", "changed", [save], LASTING, rename, "address", "STALE_REF"],
    ["lasting address", "changed, its name elsewhere", [save], LASTING, pushAside, "address", "STALE_REF"],
    ["lasting address", "recycled", options(), LASTING, exchange, "address, search", "ok"],
    ["lasting address", "gone", [save], LASTING, remove, "address", "STALE_REF"],
    ["lasting address", "gone, another in its place", [save], LASTING, replace, "address", "STALE_REF"],
    ["reused address", "same", [recycled], LASTING, nothing, "address", "ok"],
    ["reused address", "changed", [recycled], LASTING, pushAside, "address, path", "ok"],
    ["reused address", "recycled", options(true), LASTING, exchange, "address, path, search", "ok"],
    ["reused address", "gone", [recycled], LASTING, replace, "address, path", "ok"],
    ["path", "same", [save], PATH, nothing, "path", "ok"],
    ["path", "changed", [save], PATH, insert, "path, search", "ok"],
    ["path", "recycled", options(), PATH, exchange, "path, search", "ok"],
    ["search", "gone", [save], PATH, remove, "path, search", "STALE_REF"],
    ["no search", "changed", [nameless], PATH, insert, "path", "STALE_REF, uncertain"],
    ["no search", "gone", [nameless], PATH, remove, "path", "STALE_REF, uncertain"],
    ["no search", "gone", [{ ...nameless, isRecycled: true }], LASTING, remove, "address, path", "STALE_REF"],
  ] as const)("%s: %s", async (_route, _verdict, children, platform, change, routes, outcome) => {
    const { run, window, world } = await shown(children, platform)
    change(window.root)
    world.calls.length = 0
    const { error } = await run("get", { ref_id: "@e1", property: "name" })
    const words: Record<string, string> = { "open address": "address", "open path": "path", tree: "search" }
    expect(world.calls.flatMap((call) => words[call] ?? []).join(", ")).toBe(routes)
    expect(error ? `${error.code}${error.details.certain === false ? ", uncertain" : ""}` : "ok").toBe(
      outcome,
    )
  })

  test("path: gone", async () => {
    const { ok, window, world } = await shown([cancel, save], PATH)
    window.root.children[0]!.remove()
    world.calls.length = 0
    expect((await ok("get", { ref_id: "@e2", property: "name" })).value).toBe("Save")
    expect(world.calls.filter((call) => call === "open path" || call === "tree")).toEqual([
      "open path",
      "tree",
    ])
  })

  test("search: changed, since the only match is in another place", async () => {
    const draft: Spec = { role: "group", name: "Draft", children: [save] }
    const { error, window } = await shown([draft, { role: "group", name: "Template" }], PATH)
    window.root.children[0]!.children[0]!.remove()
    window.root.children[1]!.add(save)
    expect(await error("get", { ref_id: "@e1", property: "name" })).toMatchObject({
      code: "STALE_REF",
      details: { certain: false },
    })
  })

  test("search: ambiguous", async () => {
    const { error, window } = await shown([save], PATH)
    window.root.add(cancel, 0)
    window.root.add(save)
    expect((await error("get", { ref_id: "@e1", property: "name" })).code).toBe("AMBIGUOUS_TARGET")
  })
})

describe("the ref map", () => {
  test("refs written by an earlier version are unknown, and new numbers follow them", async () => {
    const { ok, error, refs, root } = await shown([save, cancel])
    const { snapshot_id } = await refs.load()
    const old = { pid: 10, role: "button", name: "Save", context: "1x2y.3z.2", twins: true, fleeting: true }
    const text = JSON.stringify({ inner: { "@e1": old, "@e2": old }, counter: 2, snapshot_id })
    writeFileSync(join(root, "last_refmap.json"), text, { mode: 0o600 })
    writeFileSync(join(root, "snapshots", `${snapshot_id}.json`), text, { mode: 0o600 })
    expect(await error("click", { ref_id: "@e1" })).toMatchObject({
      code: "STALE_REF",
      message: "@e1 not found in current RefMap",
      suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
    })
    expect((await error("click", { ref_id: `@${snapshot_id}:e2` })).message).toContain(
      `snapshot ${snapshot_id} has no @e2`,
    )
    expect((await ok("find", { name: "Save", first: true })).match.ref_id).toBe("@e3")
    await ok("click", { ref_id: "@e3" })
  })

  test("an unknown ref is stale, with the contract's message", async () => {
    const { run } = await shown([save])
    expect(await run("click", { ref_id: "@e7" })).toEqual({
      version: "1.0",
      ok: false,
      command: "click",
      error: {
        code: "STALE_REF",
        message: "@e7 not found in current RefMap",
        suggestion: "Run 'snapshot' to refresh, then retry with updated ref",
        disposition: { delivery: "not_delivered", retry: "safe" },
      },
    })
  })

  test("a qualified ref means the element of its own snapshot, even after later ones", async () => {
    const { ok, world, window } = await shown([save, cancel])
    const { snapshot_id } = await ok("snapshot")
    window.root.add({ role: "button", name: "New" }, 0)
    await ok("snapshot")
    expect((await ok("get", { ref_id: `@${snapshot_id}:e1`, property: "name" })).value).toBe("Save")
    expect((await ok("get", { ref_id: "@e1", snapshot: snapshot_id, property: "name" })).value).toBe("Save")
    expect((await ok("get", { ref_id: "@e1", property: "name" })).value).toBe("New")
    expect((await ok("click", { ref_id: `@${snapshot_id}:e2` })).ref_id).toBe(`@${snapshot_id}:e2`)
    expect(world.sent("Cancel")).toEqual(["semantic click"])
  })

  test("an unknown snapshot, two snapshots and an invalid ref are refused", async () => {
    const { error, world } = await shown([save])
    expect((await error("click", { ref_id: "@sabcdefgh:e1" })).code).toBe("SNAPSHOT_NOT_FOUND")
    expect((await error("click", { ref_id: "@e1", snapshot: "nope" })).code).toBe("SNAPSHOT_NOT_FOUND")
    expect((await error("click", { ref_id: "@sabcdefgh:e1", snapshot: "sbcdefghi" })).code).toBe(
      "INVALID_ARGS",
    )
    expect((await error("click", { ref_id: "Save" })).code).toBe("INVALID_ARGS")
    expect(world.deliveries).toEqual([])
  })

  test("a ref that an older snapshot does not have is reported for that snapshot", async () => {
    const { ok, error } = await shown([save])
    const { snapshot_id } = await ok("snapshot")
    expect((await error("click", { ref_id: "@e9", snapshot: snapshot_id })).message).toBe(
      `@e9 is stale: snapshot ${snapshot_id} has no @e9`,
    )
  })

  test("elements of a menu are searched in the menu, and stale once it closes", async () => {
    const { ok, error, app, world } = await shown([save], { addresses: false })
    app.show("menu", { role: "menu", name: "File", children: [{ role: "menuitem", name: "Open…" }] })
    await ok("snapshot", { surface: "menu" })
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Open…")).toEqual(["semantic click"])
    app.hide("menu")
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
  })

  test("elements of a sheet are found in its window", async () => {
    const { ok, app, window, world } = await shown([], { addresses: false })
    const sheet: Spec = { role: "sheet", name: "Save as", children: [save] }
    app.show("sheet", sheet, { id: "w-1" })
    await ok("snapshot", { surface: "sheet" })
    window.root.add(sheet)
    app.hide("sheet")
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
  })
})
