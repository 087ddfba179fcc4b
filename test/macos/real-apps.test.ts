import { expect, test } from "bun:test"
import { onMac } from "./program.ts"

/** Apps of a Mac as their users met them: what they answer, and what they do, in ways of their own. */

test("Contacts: Edit and Done answer with errors, and each is pressed once", () =>
  onMac("contacts", async ({ mac, ok, ref }) => {
    await ok("snapshot", { app: "Contacts" })
    const edited = await ok("click", { ref_id: await ref("Edit") })
    expect(edited).toMatchObject({ method: "AXPress", disposition: { delivery: "delivery_uncertain" } })
    await ok("snapshot", { app: "Contacts" })
    await ok("click", { ref_id: await ref("Done") })
    expect(mac.record("note").map(({ text }) => text)).toEqual(["edit", "done"])
    expect(mac.record("post")).toEqual([])
  }))

test("Contacts: a field that takes the focus and answers with an error has the focus", () =>
  onMac("contacts", async ({ mac, ok, ref }) => {
    await ok("snapshot", { app: "Contacts" })
    expect(await ok("focus", { ref_id: await ref("Phone") })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("phone").focused).toBe(true)
    await ok("check", { ref_id: await ref("Favourite") })
    expect(mac.look("favourite").AXValue).toBe(1)
    expect(mac.record("post")).toEqual([])
  }))

test("Contacts: elements that answer 'failure' for everything they lack are complete, and hide nothing", () =>
  onMac("contacts", async ({ mac, ok, ref }) => {
    expect(await ok("snapshot", { app: "Contacts" })).toMatchObject({ complete: true })
    expect(
      await ok("wait", { text: "No such text", gone: true, app: "Contacts", timeout: 500 }),
    ).toMatchObject({ found: true })
    expect(await ok("find", { role: "button", name: "Delete 2" })).toMatchObject({
      total_matches: 1,
    })
    await ok("snapshot", { app: "Contacts" })
    expect(await ok("get", { ref_id: await ref("Note"), property: "value" })).toMatchObject({
      value: "met in Rome",
    })
    await ok("click", { ref_id: await ref("Delete 2") })
    expect(mac.record("note").map(({ text }) => text)).toEqual(["delete 2"])
  }))
