import { afterAll, expect, test } from "bun:test"
import { clearDesks, desk } from "../support/fake-desk.ts"

afterAll(clearDesks)

const SERVER = { command: "agent-desktop", args: ["mcp"] }

/** The place where each client looks for a server called agent-desktop, according to its documentation. */
const CLIENTS = {
  claude: { mcpServers: { "agent-desktop": SERVER } },
  "claude-desktop": { mcpServers: { "agent-desktop": SERVER } },
  codex: { mcp_servers: { "agent-desktop": SERVER } },
  cursor: { mcpServers: { "agent-desktop": SERVER } },
  gemini: { mcpServers: { "agent-desktop": SERVER } },
  vscode: { servers: { "agent-desktop": { type: "stdio", ...SERVER } } },
  windsurf: { mcpServers: { "agent-desktop": SERVER } },
  zed: { context_servers: { "agent-desktop": SERVER } },
} as const

test.each(Object.entries(CLIENTS))("%s finds the server in its settings", async (client, expected) => {
  const { file, text } = await desk().ok("mcp-config", { client })
  const read: unknown = file.endsWith(".toml") ? Bun.TOML.parse(text) : JSON.parse(text)
  expect(read).toEqual(expected)
})

test("the error for an unknown client lists every client", async () => {
  const { details, message } = await desk().error("mcp-config", { client: "nobody" })
  expect(details.argument).toBe("client")
  for (const client of Object.keys(CLIENTS)) expect(message).toContain(client)
})

test.each([
  ["claude", ["claude", "mcp", "add", "agent-desktop", "--", "agent-desktop", "mcp"]],
  ["codex", ["codex", "mcp", "add", "agent-desktop", "--", "agent-desktop", "mcp"]],
  ["gemini", ["gemini", "mcp", "add", "--scope", "user", "agent-desktop", "agent-desktop", "mcp"]],
  ["vscode", ["code", "--add-mcp", JSON.stringify({ name: "agent-desktop", ...SERVER })]],
])("%s can also be configured by a command that a shell splits correctly", async (client, words) => {
  const { command } = await desk().ok("mcp-config", { client })
  const { stdout } = Bun.spawnSync(["sh", "-c", `set -- ${command}; printf '%s\\n' "$@"`])
  expect(stdout.toString().trimEnd().split("\n")).toEqual(words)
})

test("the desktop and --read-only are passed on to the server", async () => {
  const { text, command } = await desk({ desktop: "work", readOnly: true }).ok("mcp-config", {
    client: "claude",
  })
  expect(JSON.parse(text).mcpServers["agent-desktop"].args).toEqual([
    "--desktop",
    "work",
    "--read-only",
    "mcp",
  ])
  expect(command).toBe("claude mcp add agent-desktop -- agent-desktop --desktop work --read-only mcp")
})

test("a session name is passed on to the server", async () => {
  const named = desk({ session: "mine" })
  const { text, command } = await named.ok("mcp-config", { client: "claude" })
  expect(JSON.parse(text).mcpServers["agent-desktop"].args).toEqual(["--session", "mine", "mcp"])
  expect(command).toBe("claude mcp add agent-desktop -- agent-desktop --session mine mcp")
  expect(Bun.TOML.parse((await named.ok("mcp-config", { client: "codex" })).text)).toEqual({
    mcp_servers: { "agent-desktop": { command: "agent-desktop", args: ["--session", "mine", "mcp"] } },
  })
  expect((await named.ok("mcp-config", { client: "gemini" })).command).toBeUndefined()
})
