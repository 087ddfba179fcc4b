import { afterAll, describe, expect, test } from "bun:test"
import { AppError } from "../../src/errors.ts"
import { SURFACES } from "../../src/node.ts"
import { nodesOf } from "../support/answers.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { form, refsOf } from "../support/form.ts"

afterAll(clearDesks)

describe("surfaces", () => {
  test("each surface is read with its own root and title", async () => {
    const { ok, app } = form()
    for (const surface of SURFACES.filter((one) => one !== "window")) {
      app.show(surface, {
        role: surface === "focused" ? "window" : surface,
        name: `The ${surface}`,
        children: [{ role: "menuitem", name: "Open…" }],
      })
      const data = await ok("snapshot", { surface })
      expect(data).toMatchObject({ app: "Shop", ref_count: 1, window: { title: `The ${surface}` } })
      expect(data.tree.children[0]).toEqual({ ref_id: "@e1", role: "menuitem", name: "Open…" })
    }
  })

  test("a surface that is not open is not found", async () => {
    const { error } = form()
    expect((await error("snapshot", { surface: "menu" })).code).toBe("ELEMENT_NOT_FOUND")
  })

  test("a window without accessible content fails: an empty tree would look like an empty window", async () => {
    const { error, app } = form()
    app.window("Canvas", [], { id: "w-2", accessible: false, reason: "it was started without accessibility" })
    for (const [name, args] of [
      ["snapshot", {}],
      ["find", { role: "button" }],
      ["wait", { text: "x", timeout_ms: 0 }],
    ] as const) {
      const refused = await error(name, { ...args, window_id: "w-2" })
      expect(refused.code).toBe("PLATFORM_NOT_SUPPORTED")
      expect(refused.message).toBe(
        "Window 'w-2' of 'Shop' exposes no accessibility tree: it was started without accessibility",
      )
      expect(refused.suggestion).toContain("screenshot --window-id w-2")
    }
  })

  test("a tree without content has a note that explains how to work without it", async () => {
    const { ok, app } = form()
    app.window("Game", [{ role: "group", children: [{ role: "group" }] }], { id: "w-2" })
    expect((await ok("snapshot", { window_id: "w-2" })).note).toContain("screenshot --window-id w-2")
    app.window("Text", [{ role: "group", children: [{ role: "statictext", name: "Score" }] }], { id: "w-3" })
    expect((await ok("snapshot", { window_id: "w-3" })).note).toBeUndefined()
    const whole = await ok("snapshot", { window_id: "w-1" })
    expect(whole.note).toBeUndefined()
    const button = nodesOf(whole.tree).find(({ role }) => role === "button")
    expect((await ok("snapshot", { root: button?.ref_id })).note).toBeUndefined()
  })

  test("a window whose app cannot show more is not said to need a restart", async () => {
    const { error, app } = form()
    app.window("Canvas", [], {
      id: "w-2",
      accessible: false,
      cannotShow: true,
      reason: "it is built with Tk",
    })
    const { suggestion } = await error("snapshot", { window_id: "w-2" })
    expect(suggestion).toStartWith("Work from pictures: 'screenshot --window-id w-2'")
  })

  test("a window of a process that has just started gets some time to show its content", async () => {
    const { ok, error, app } = form()
    let looks = 0
    app.window("New", [{ role: "button", name: "Go" }], {
      id: "w-2",
      starting: true,
      get accessible() {
        return ++looks % 4 ? false : undefined
      },
    })
    expect((await ok("snapshot", { window_id: "w-2" })).ref_count).toBe(1)
    expect((await ok("find", { window_id: "w-2", name: "Go" })).total_matches).toBe(1)
    expect((await ok("wait", { window_id: "w-2", text: "Go" })).found).toBe(true)
    app.window("Never", [], { id: "w-3", starting: true, accessible: false, reason: "it is not there" })
    expect((await error("snapshot", { window_id: "w-3" })).code).toBe("PLATFORM_NOT_SUPPORTED")
  })

  test("a denied permission keeps the platform's message", async () => {
    const { run, world } = form()
    world.fail(
      "windows",
      new AppError("PERM_DENIED", "Accessibility permission not granted", {
        suggestion: "Open System Settings",
      }),
    )
    expect(await run("snapshot")).toEqual({
      version: "1.0",
      ok: false,
      command: "snapshot",
      error: {
        code: "PERM_DENIED",
        message: "Accessibility permission not granted",
        suggestion: "Open System Settings",
      },
    })
  })
})

describe("--root", () => {
  const cards: Spec[] = ["A", "B"].map((name) => ({
    role: "option",
    name: `Card ${name}`,
    children: [{ role: "button", name: `Open ${name}` }],
  }))

  function list() {
    const it = desk()
    const app = it.world.app("List", { pid: 10 })
    const window = app.window("All", [{ role: "list", name: "Cards", children: cards }], { id: "w-1" })
    return { ...it, app, window }
  }

  test("reads only the subtree; its refs are added, and all others stay the same", async () => {
    const { ok, world, refs } = list()
    const whole = await ok("snapshot")
    expect(refsOf(whole.tree)).toEqual({ "Card A": "@e1", "Open A": "@e2", "Card B": "@e3", "Open B": "@e4" })
    const before = await refs.load()
    world.at("Card A").add({ role: "button", name: "Share A" })
    const below = await ok("snapshot", { root: "@e1" })
    expect(refsOf(below.tree)).toEqual({ "Card A": "@e1", "Open A": "@e2", "Share A": "@e5" })
    expect(below).toMatchObject({
      app: "List",
      window: { id: "w-1", title: "All" },
      ref_count: 3,
      snapshot_id: whole.snapshot_id,
      complete: true,
    })
    const after = await refs.load()
    for (const [ref, entry] of before.inner) expect(after.inner.get(ref)).toEqual(entry)
  })

  test("gives refs that can be acted on like others, even after the element moved", async () => {
    const { ok, world } = list()
    world.hasAddresses = false
    await ok("snapshot")
    world.at("Card A").add({ role: "button", name: "Share A" })
    await ok("snapshot", { root: "@e1" })
    await ok("click", { ref_id: "@e5" })
    world.at("Cards").add({ role: "option", name: "Card 0" }, 0)
    await ok("click", { ref_id: "@e5" })
    expect(world.sent("Share A")).toEqual(["semantic click", "semantic click"])
  })

  test("gives refs with the snapshot id if the root ref had one", async () => {
    const { ok, world } = list()
    const old = await ok("snapshot")
    world.at("Card B").add({ role: "button", name: "Share B" })
    const newer = await ok("snapshot", { window_id: "w-1" })
    expect(newer.snapshot_id).not.toBe(old.snapshot_id)
    const id = old.snapshot_id
    for (const choice of [{ root: `@${id}:e3` }, { root: "@e3", snapshot: id }]) {
      const below = await ok("snapshot", choice)
      expect(below.snapshot_id).toBe(id)
      expect(refsOf(below.tree)).toEqual({
        "Card B": `@${id}:e3`,
        "Open B": `@${id}:e4`,
        "Share B": `@${id}:e5`,
      })
    }
    await ok("click", { ref_id: `@${id}:e5` })
    expect(world.sent("Share B")).toEqual(["semantic click"])
  })

  test("reads a subtree completely or fails", async () => {
    const { ok, error, world, refs } = list()
    await ok("snapshot")
    const before = [...(await refs.load()).inner.keys()]
    world.nodeLimit = 1
    expect(await error("snapshot", { root: "@e1" })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "subtree" },
    })
    expect([...(await refs.load()).inner.keys()]).toEqual(before)
  })

  test("excludes --app and --window-id, and --snapshot needs it", async () => {
    const { error } = list()
    for (const args of [
      { root: "@e1", app: "List" },
      { root: "@e1", window_id: "w-1" },
      { snapshot: "sabcdefgh" },
    ])
      expect((await error("snapshot", args)).code).toBe("INVALID_ARGS")
  })
})
