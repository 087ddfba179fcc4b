import { expect, test } from "bun:test"
import { agentDesktop } from "agent-desktop"
import { temporaryForFile } from "./support/temporary.ts"

const home = temporaryForFile()
const env = { AGENT_DESKTOP_HOME: home }

test("a program gets the same envelopes as the command line", async () => {
  await using desktop = agentDesktop({ env, session: "mine" })
  expect(await desktop.run("click", { ref_id: "@e1" })).toMatchObject({
    version: "1.0",
    ok: false,
    command: "click",
    error: { code: "STALE_REF" },
  })
  expect(await desktop.run("version")).toMatchObject({ ok: true, data: { version: expect.any(String) } })
  expect(await desktop.run("clik")).toMatchObject({ ok: false, error: { code: "INVALID_ARGS" } })
})

test("readOnly denies commands that act, and a batch does not read standard input", async () => {
  await using desktop = agentDesktop({ env, readOnly: true })
  expect(await desktop.run("press", { combo: "a" })).toMatchObject({ error: { code: "POLICY_DENIED" } })
  expect(await desktop.run("batch", { commands: "-" })).toMatchObject({ error: { code: "INVALID_ARGS" } })
})

test("the numbering of refs is set by an option or by a variable, and a wrong value is refused", async () => {
  await using desktop = agentDesktop({ env, refs: "stable" })
  expect(await desktop.run("status")).toMatchObject({ ok: true })
  expect(() => agentDesktop({ env: { ...env, AGENT_DESKTOP_REFS: "steady" } })).toThrow(
    "AGENT_DESKTOP_REFS is 'steady', and must be fresh or stable",
  )
})

test("without a desktop, a command fails with PLATFORM_NOT_SUPPORTED", async () => {
  await using desktop = agentDesktop({ env })
  const { ok, ...rest } = await desktop.run("list-windows")
  expect(ok).toBe(false)
  expect(rest).toMatchObject({ error: { code: "PLATFORM_NOT_SUPPORTED" } })
})
