import { afterAll, describe, expect, test } from "bun:test"
import { NOTHING, SENT, SENT_SAFELY } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { bounds, holding } from "./holding.ts"
import { BUTTON, COMBO } from "./unroutable.ts"

afterAll(clearDesks)

describe.concurrent("select by pointer", () => {
  const option = (name: string, y: number): Spec => ({
    role: "option",
    name,
    bounds: { x: 10, y, width: 100, height: 20 },
    does: (it, action) => {
      if (action.kind !== "click") return
      it.parent!.parent!.value = it.name
      it.parent!.remove()
    },
  })
  /** A combobox that shows its list below itself when it is clicked. */
  const combo = (...names: string[]): Spec => ({
    ...COMBO,
    does: (it, action) => {
      if (action.kind !== "click" || it.children.length > 0) return
      it.add({ role: "listbox", children: names.map((name, i) => option(name, 40 + i * 20)) })
    },
  })

  test("opens the list, finds the option and clicks it", async () => {
    const { act, sent, world } = await holding(combo("A", "B"))
    expect((await act("select", { value: "B" })).data).toMatchObject({
      method: "pointer",
      post_state: { value: "B" },
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect(sent()).toEqual(["pointer click"])
    expect(world.deliveries.map(({ name }) => name)).toEqual(["It", "B"])
  })

  test("the list is closed again if it lacks the option, and nothing is chosen", async () => {
    const { act, world, element } = await holding(combo("A", "B"))
    world.onKey = () => {
      element.children[0]?.remove()
      element.turn("expanded", "collapsed")
    }
    expect((await act("select", { value: "C" })).error).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      message: "@e1 shows no option 'C'",
      details: { candidates: ["A", "B"], list: "closed again" },
      disposition: NOTHING,
    })
    expect(world.keys).toEqual(["escape"])
    expect(element.value).toBe("A")
  })

  test("a click that chose an option instead of opening the list is not reported as not_delivered", async () => {
    const { act, element } = await holding({
      ...COMBO,
      states: ["enabled"],
      does: (it) => it.set({ value: "D" }),
    })
    expect((await act("select", { value: "C" })).error).toMatchObject({
      code: "ACTION_FAILED",
      message: "Select action failed on @e1: it shows no option 'C', and its value has changed",
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(element.value).toBe("D")
  })

  test("a list that does not close is reported, even if it is in no tree", async () => {
    const { act, world } = await holding({ ...COMBO, states: ["enabled"] })
    world.popups = () => (world.sent("It").length > 0 ? 1 : 0)
    expect((await act("select", { value: "C" })).error).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      message: "@e1 shows no option 'C', and the list that it opened may still be open",
      details: { list: "left open" },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
    expect(world.keys).toEqual(["escape"])
  })

  const listed = (name: string, y: number, isSelected = false): Spec => ({
    role: "option",
    name,
    states: isSelected ? ["enabled", "selected"] : ["enabled"],
    bounds: { x: 10, y, width: 100, height: 20 },
    route: "absent",
    does: (it, action) => {
      if (action.kind === "click") it.states.push("selected")
    },
  })
  const list = (...children: Spec[]): Spec => ({
    ...BUTTON,
    role: "listbox",
    states: ["enabled", "multiselectable"],
    children,
  })

  test("an option of a list without an accessibility route is clicked once, and the others stay selected", async () => {
    const { act, world } = await holding(list(listed("A", 40, true), listed("B", 60)))
    expect((await act("select", { value: "B" })).data).toMatchObject({
      method: "pointer",
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect(world.sent("B")).toEqual(["pointer click"])
    expect((await act("select", { value: "B" })).data.disposition).toEqual(NOTHING)
    expect(world.sent("B")).toEqual(["pointer click"])
  })

  test("a wrong selection afterwards is a failure", async () => {
    const { act } = await holding(list(listed("A", 40, true), listed("B", 60)))
    expect((await act("select", { value: "B", only: true })).error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "selection", wanted: [], observed: ["A"] },
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    })
  })

  test("two options of the same name are ambiguous", async () => {
    const { act, element } = await holding(combo("A", "B", "B"))
    expect((await act("select", { value: "B" })).error.code).toBe("AMBIGUOUS_TARGET")
    expect(element.value).toBe("A")
  })

  test("the start of a name is enough, unless several options start with it", async () => {
    const { act, element } = await holding(combo("A", "Beta", "Berlin", "Bern"))
    expect((await act("select", { value: "Bet" })).data).toMatchObject({
      post_state: { value: "Beta" },
      disposition: { delivery: "delivered_verified" },
    })
    expect(element.value).toBe("Beta")
    const another = await holding(combo("A", "Beta", "Berlin", "Bern"))
    expect((await another.act("select", { value: "Ber" })).error.code).toBe("AMBIGUOUS_TARGET")
  })

  test("a menu item of the window is not an option, and without a list no key is sent", async () => {
    const edit: Spec = { role: "menuitem", name: "Edit", bounds: { x: 300, y: 10, width: 50, height: 20 } }
    const { act, world } = await holding({ ...COMBO, states: ["enabled"] }, edit)
    expect((await act("select", { value: "Edit" })).error.code).toBe("ELEMENT_NOT_FOUND")
    expect(world.sent("Edit")).toEqual([])
    expect(world.keys).toEqual([])
  })

  test("a list that opens elsewhere in the window is found by its new elements", async () => {
    const opener: Spec = {
      ...COMBO,
      does: (it, action) => {
        if (action.kind !== "click") return
        it.parent!.add({
          role: "listbox",
          children: [{ ...option("B", 200), does: () => it.set({ value: "B" }) }],
        })
      },
    }
    const { act } = await holding(opener, {
      role: "option",
      name: "B",
      bounds: { x: 300, y: 10, width: 9, height: 9 },
    })
    expect((await act("select", { value: "B" })).data.post_state.value).toBe("B")
  })

  test("an element without a list is not supported", async () => {
    const { act } = await holding({ ...BUTTON, role: "tab" })
    expect((await act("select", { value: "B" })).error.code).toBe("ACTION_NOT_SUPPORTED")
  })
})

describe.concurrent("drag and pointer commands", () => {
  test("a drag goes from the centre of one element to the centre of another", async () => {
    const { ok, world } = await holding(BUTTON, { ...BUTTON, name: "To", bounds: { ...bounds, y: 200 } })
    expect(await ok("drag", { from: "@e1", to: "@e2", duration: 100 })).toEqual({
      action: "drag",
      from: { x: 60, y: 20, ref_id: "@e1", element: { role: "button", name: "It" } },
      to: { x: 60, y: 210, ref_id: "@e2", element: { role: "button", name: "To" } },
      disposition: SENT,
    })
    expect(JSON.parse(world.keys[0]!)).toMatchObject({ kind: "drag", durationMs: 100 })
  })

  test("a press on an element that has moved, or become another, is taken back", async () => {
    const { act, world, element } = await holding({ ...BUTTON, bounds })
    for (const change of [{ bounds: { ...bounds, y: 300 } }, { name: "Delete" }]) {
      world.onPress = () => element.set(change)
      expect((await act("click", { input: "physical" })).error).toMatchObject({
        code: "ACTION_FAILED",
        message: expect.stringContaining("the press was taken back"),
        disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
      })
      element.set({ bounds, name: "It" })
    }
    expect(world.deliveries).toEqual([])
    // The right button comes up at once: LibreOffice closes a menu at a later release.
    await act("right-click", { input: "physical" })
    const proofs = world.inputs.flatMap((one) =>
      one.kind === "click" ? [one.proveRelease !== undefined] : [],
    )
    expect(proofs).toEqual([true, true, false])
  })

  test("a drop is undone if another element has taken the target's place, but not if a list makes room", async () => {
    const at = { ...bounds, y: 200 }
    const { ok, error, world, window } = await holding(
      BUTTON,
      { ...BUTTON, name: "To", bounds: at },
      { ...BUTTON, name: "Trash", bounds: { ...bounds, y: 400 } },
    )
    const [dragged, to, trash] = window.root.children
    const takesPlace = (one: typeof trash) => () => {
      to!.set({ bounds: { ...bounds, y: 600 } })
      one!.set({ bounds: at })
    }
    world.onPointer = ({ y }) => y === 210 && takesPlace(trash)()
    const failed = await error("drag", { from: "@e1", to: "@e2", duration: 100 })
    expect(failed).toMatchObject({
      message: "Drag action failed on @e1: the drop point 60,210 is covered by button 'Trash'",
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(world.keys).toEqual([])
    to!.set({ bounds: at })
    trash!.set({ bounds: { ...bounds, y: 400 } })
    world.onPointer = ({ y }) => y === 210 && takesPlace(dragged)()
    await ok("drag", { from: "@e1", to: "@e2", duration: 100 })
    expect(world.keys).toHaveLength(1)
  })

  test("a drag is refused if the window of one end covers the other end", async () => {
    const { ok, error, world } = await holding(BUTTON)
    world.app("Other").window("Other", [{ ...BUTTON, name: "To" }], { id: "w-2" })
    const { match } = await ok("find", { window_id: "w-2", name: "To", first: true })
    expect((await error("drag", { from: "@e1", to: match.ref_id })).message).toContain("covered by")
    expect(world.keys).toEqual([])
  })

  test("points are used as given", async () => {
    const { ok, world } = await holding(BUTTON)
    expect(await ok("mouse-click", { xy: "60,20", count: 2 })).toEqual({
      action: "mouse-click",
      x: 60,
      y: 20,
      disposition: SENT,
    })
    expect(await ok("mouse-move", { xy: "-5.5, 7" })).toEqual({
      action: "mouse-move",
      x: -5.5,
      y: 7,
      disposition: SENT_SAFELY,
    })
    expect(await ok("drag", { xy: "1,2", to_xy: "3,4" })).toMatchObject({
      from: { x: 1, y: 2 },
      to: { x: 3, y: 4 },
    })
    expect(await ok("hover", { xy: "9,9" })).toEqual({
      action: "hover",
      x: 9,
      y: 9,
      disposition: SENT_SAFELY,
    })
    expect(world.sent("It")).toEqual(["pointer double-click"])
  })

  test("a duration above the timeout is refused at once", async () => {
    const { error, world } = await holding(BUTTON)
    for (const [name, args] of [
      ["hover", { xy: "1,1", duration_ms: 6000 }],
      ["drag", { xy: "1,1", to_xy: "2,2", duration: 6000 }],
    ] as const)
      expect(await error(name, args)).toMatchObject({
        code: "INVALID_ARGS",
        details: { argument: "timeout_ms" },
      })
    expect(world.keys).toEqual([])
  })
})
