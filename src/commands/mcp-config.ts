import { defineCommand } from "../command.ts"
import { choice } from "../inputs.ts"

const CLIENTS = [
  "claude",
  "claude-desktop",
  "codex",
  "cursor",
  "gemini",
  "vscode",
  "windsurf",
  "zed",
] as const
type Client = (typeof CLIENTS)[number]

export default defineCommand({
  name: "mcp-config",
  summary: "Print what makes an MCP client start this program",
  group: "integrate",
  readOnly: true,
  input: { client: choice(CLIENTS, "Which client", { position: 0, value: "CLIENT" }) },
  examples: ["agent-desktop mcp-config claude", "agent-desktop mcp-config --client vscode --format text"],
  run: async (args) => ({ client: args.client, ...configOf(args.client) }),
})

interface Config {
  readonly file: string
  readonly text: string
  readonly command?: string
}

function configOf(client: Client): Config {
  const program = ownPath()
  const server = { command: program, args: ["mcp"] }
  const mcpServers = json({ mcpServers: { "agent-desktop": server } })
  switch (client) {
    case "claude":
      return {
        file: ".mcp.json",
        text: mcpServers,
        command: `claude mcp add agent-desktop -- ${quoted(program)} mcp`,
      }
    case "claude-desktop":
      return {
        file:
          process.platform === "darwin"
            ? "~/Library/Application Support/Claude/claude_desktop_config.json"
            : "~/.config/Claude/claude_desktop_config.json",
        text: mcpServers,
      }
    case "codex":
      return {
        file: "~/.codex/config.toml",
        text: `[mcp_servers.agent-desktop]\ncommand = ${JSON.stringify(program)}\nargs = ["mcp"]\n`,
        command: `codex mcp add agent-desktop -- ${quoted(program)} mcp`,
      }
    case "cursor":
      return { file: "~/.cursor/mcp.json", text: mcpServers }
    case "gemini":
      return {
        file: "~/.gemini/settings.json",
        text: mcpServers,
        command: `gemini mcp add --scope user agent-desktop ${quoted(program)} mcp`,
      }
    case "vscode":
      return {
        file: ".vscode/mcp.json",
        text: json({ servers: { "agent-desktop": { type: "stdio", ...server } } }),
        command: `code --add-mcp ${quoted(JSON.stringify({ name: "agent-desktop", ...server }))}`,
      }
    case "windsurf":
      return { file: "~/.codeium/windsurf/mcp_config.json", text: mcpServers }
    case "zed":
      return {
        file: "~/.config/zed/settings.json",
        text: json({ context_servers: { "agent-desktop": server } }),
      }
    default:
      return client satisfies never
  }
}

/** A compiled program is its own executable; from source there is only its name. */
const ownPath = (): string => (import.meta.path.startsWith("/$bunfs/") ? process.execPath : "agent-desktop")

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

const quoted = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
