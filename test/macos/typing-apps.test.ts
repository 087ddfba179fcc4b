import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac, type Program } from "./program.ts"

/** Texts typed into Mac apps: the route that reaches the app, and the proof that it did. */

const typed = ({ mac }: Program) =>
  mac
    .record("write")
    .flatMap(({ node, attribute }) => (attribute === "AXFocused" ? [] : [`${node} ${attribute}`]))

test("Terminal: text is typed as keys, because text written to its view is lost", () =>
  onMac("terminal", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { app: "Terminal" })
    expect(await ok("type", { ref_id: await ref("shell"), text: "ls -l" })).toMatchObject({
      method: "keyboard",
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("shell").AXValue).toBe("me@mac ~ % ls -l")
    expect(typed(program)).toEqual([])
  }))

test("Messages, a Catalyst app: text is typed as keys", () =>
  onMac("messages", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { app: "Messages" })
    expect(await ok("type", { ref_id: await ref("Message"), text: "On my way" })).toMatchObject({
      method: "keyboard",
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("message").AXValue).toBe("On my way")
    expect(await ok("set-value", { ref_id: await ref("Message"), value: "Later" })).toMatchObject({
      method: "keyboard",
    })
    expect(mac.look("message").AXValue).toBe("Later")
    expect(typed(program)).toEqual([])
  }))

test("a web page: text is typed as keys, and the text in its field proves nothing", () =>
  onMac("safari", async (program) => {
    const { mac, ok, ref } = program
    await ok("snapshot", { app: "Safari" })
    const email = await ref("E-mail")
    for (const [command, args] of [
      ["type", { text: "ann@example.org" }],
      ["set-value", { value: "bob@example.org" }],
      ["clear", {}],
    ] as const) {
      expect(await ok(command, { ref_id: email, ...args })).toMatchObject({
        method: "keyboard",
        disposition: { delivery: "delivered_unverified" },
      })
    }
    expect(mac.look("email").AXValue).toBe("")
    expect(typed(program)).toEqual([])
    // The address field is not part of the page.
    expect(await ok("set-value", { ref_id: await ref("smart search field"), value: "x.org" })).toMatchObject({
      method: "AXValue",
      disposition: { delivery: "delivered_verified" },
    })
  }))

test("a native field without the focus gets it first, and keeps its text", () =>
  onMac(
    appWith([
      { id: "name", AXRole: "AXTextField", AXTitle: "Name", AXValue: "Ann", frame: [200, 200, 120, 24] },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      expect(await ok("type", { ref_id: await ref("Name"), text: " Lee" })).toMatchObject({
        method: "AXSelectedText",
        disposition: { delivery: "delivered_verified" },
      })
      expect(mac.look("name").AXValue).toBe("Ann Lee")
      expect(mac.record("post")).toEqual([])
    },
  ))

test("a native field that accepts text and drops it gets the keys, once", () =>
  onMac(
    appWith([
      {
        id: "name",
        AXRole: "AXTextField",
        AXTitle: "Name",
        AXValue: "Ann",
        ignores: ["AXSelectedText"],
        frame: [200, 200, 120, 24],
      },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      expect(await ok("type", { ref_id: await ref("Name"), text: " Lee" })).toMatchObject({
        method: "keyboard",
        disposition: { delivery: "delivered_verified" },
      })
      expect(mac.look("name").AXValue).toBe("Ann Lee")
    },
  ))

test("keys stop when the focus moves away while a long text is typed", () =>
  onMac(
    appWith([
      {
        id: "text",
        AXRole: "AXTextArea",
        AXTitle: "Text",
        frame: [200, 200, 200, 60],
      },
      { id: "chat", AXRole: "AXTextArea", AXTitle: "Chat", frame: [200, 300, 200, 60] },
    ]),
    async ({ mac, ok, error, ref }) => {
      await ok("snapshot", { app: "Demo" })
      mac.apply({ do: "focus", node: "text" })
      mac.apply({ do: "focus", node: "chat", after_ms: 300 })
      const text = "all work and no play ".repeat(400)
      expect(
        await error("type", { ref_id: await ref("Text"), text, input: "physical", timeout_ms: 20_000 }),
      ).toMatchObject({
        details: { kind: "typing" },
        disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
      })
      expect(String(mac.look("chat").AXValue).length).toBeLessThan(300)
    },
  ))

test("a text that is too long to be read as a whole is typed into once, and proves nothing", () =>
  onMac(
    appWith([
      {
        id: "log",
        AXRole: "AXTextArea",
        AXTitle: "Log",
        AXValue: "x".repeat(70_000),
        frame: [200, 200, 200, 60],
      },
    ]),
    async ({ mac, ok, ref }) => {
      await ok("snapshot", { app: "Demo" })
      expect(await ok("type", { ref_id: await ref("Log"), text: " end" })).toMatchObject({
        method: "AXSelectedText",
        disposition: { delivery: "delivered_unverified" },
      })
      expect(String(mac.look("log").AXValue).slice(-6)).toBe("xx end")
      expect(mac.record("post")).toEqual([])
    },
  ))
