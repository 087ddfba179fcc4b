import { afterAll, expect, test } from "bun:test"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

afterAll(clearDesks)

const mail = (text: string): Spec => ({
  role: "row",
  children: [
    { role: "label", name: text },
    { role: "button", name: "Open", states: ["enabled"] },
  ],
})

test.each(["stable", "fresh"] as const)(
  "with --refs %s, a description reaches the last of two rows with the same texts after their list has changed",
  async (numbering) => {
    const { ok, error, world } = desk({}, numbering)
    const list: Spec = { role: "list", name: "Mails", children: [mail("Ada"), mail("Ada"), mail("Bob")] }
    const { root } = world.app("Mail", { pid: 10 }).window("Inbox", [list])
    await ok("snapshot")
    const [first, second] = root.children[0]!.children
    first!.remove()
    const received: string[] = []
    second!.children[1]!.does = () => received.push("second")
    // Its ref was given for one of two equal rows: nothing proves which one is left.
    expect((await error("click", { ref_id: "@e2" })).code).toBe("STALE_REF")
    expect(received).toEqual([])
    await ok("click", { ref_id: 'button "Open" in "Ada"' })
    expect(received).toEqual(["second"])
  },
)
