import * as v from "valibot"
import { type Context, defineCommand } from "../command.ts"
import { PlainText } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { choice, text, whole } from "../schema/inputs.ts"
import { described, optionalString } from "../schema/outputs.ts"

/** The MCP server, and the settings that make a client start it. */

/** A day. */
const LONGEST_IDLE_MS = 86_400_000

export const mcp = defineCommand({
  name: "mcp",
  summary: "Serve the commands as MCP tools on standard input and output",
  group: "integrate",
  effect: "reads",
  tool: "never",
  trace: "nothing",
  flow: "never",
  serves: true,
  timeoutMs: 0,
  input: {
    tools: v.optional(
      text("Which tools: core, all, read-only, or names of commands, separated by commas", {
        value: "LIST",
        traced: true,
      }),
      "core",
    ),
    idle_ms: v.optional(
      whole("End after this long without a call; 0 never", 0, LONGEST_IDLE_MS, { value: "MS" }),
      0,
    ),
  },
  output: () => v.object({ text: v.string() }),
  print: ({ text }) => text,
  sample: {},
  examples: ["agent-desktop mcp", "agent-desktop mcp --tools core,clipboard-get,clipboard-set"],
  async run(args, ctx) {
    if (!ctx.serve) {
      throw new AppError(
        "INVALID_ARGS",
        "mcp serves its own connection and cannot run inside another command",
        {
          suggestion: "agent-desktop mcp",
        },
      )
    }
    await ctx.serve({ tools: args.tools, idleMs: args.idle_ms })
    return new PlainText("")
  },
})

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

export const mcpConfig = defineCommand({
  name: "mcp-config",
  summary: "Print the settings that make an MCP client start this program",
  group: "integrate",
  effect: "reads",
  tool: "never",
  trace: "line",
  input: { client: choice(CLIENTS, "Which client", { position: 0, value: "CLIENT" }) },
  output: () =>
    v.object({
      client: v.string(),
      file: described(v.string(), "File that the client reads"),
      text: described(v.string(), "Text to add there"),
      command: described(optionalString(), "Does the same from a shell"),
    }),
  print: ({ text }) => text,
  sample: [{ client: "vscode" }, { client: "codex" }],
  examples: [
    "agent-desktop mcp-config claude",
    "agent-desktop mcp-config --client vscode --format text",
    "agent-desktop --desktop work --read-only mcp-config claude",
  ],
  run: async (args, ctx) => ({ client: args.client, ...configOf(args.client, optionsOf(ctx)) }),
})

interface Config {
  readonly file: string
  readonly text: string
  readonly command?: string
}

/** The options of this command that the server gets, too. Without a named session, each server gets a separate one. */
const optionsOf = ({ session, desktop, readOnly }: Context): readonly string[] => [
  ...(session ? ["--session", session] : []),
  ...(desktop ? ["--desktop", desktop] : []),
  ...(readOnly ? ["--read-only"] : []),
]

/** The settings of a client. */
function configOf(client: Client, options: readonly string[]): Config {
  const program = ownPath()
  const server = { command: program, args: [...options, "mcp"] }
  const line = [program, ...server.args].map(quoted).join(" ")
  const mcpServers = json({ mcpServers: { "agent-desktop": server } })
  switch (client) {
    case "claude":
      return {
        file: ".mcp.json",
        text: mcpServers,
        command: `claude mcp add agent-desktop -- ${line}`,
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
        text: `[mcp_servers.agent-desktop]\ncommand = ${JSON.stringify(program)}\nargs = ${JSON.stringify(server.args)}\n`,
        command: `codex mcp add agent-desktop -- ${line}`,
      }
    case "cursor":
      return { file: "~/.cursor/mcp.json", text: mcpServers }
    case "gemini":
      return {
        file: "~/.gemini/settings.json",
        text: mcpServers,
        // The client would read a server option as its own.
        ...(options.length > 0 ? {} : { command: `gemini mcp add --scope user agent-desktop ${line}` }),
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

/** Path of the compiled program; just the name if it runs from source. */
const ownPath = (): string => (import.meta.path.startsWith("/$bunfs/") ? process.execPath : "agent-desktop")

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

const quoted = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
