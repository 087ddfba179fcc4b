import * as v from "valibot"
import type { Candidate, Live } from "../cli/completions.ts"
import { globals } from "../cli/globals.ts"
import { type Context, defineCommand } from "../command.ts"
import { PlainText } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { choice, optionalText } from "../schema/inputs.ts"
import { quoted } from "../shown-text.ts"

export const completions = defineCommand({
  name: "completions",
  summary: "Print the script that makes a shell complete commands, flags, apps and refs",
  group: "integrate",
  effect: "reads",
  tool: "never",
  trace: "nothing",
  timeoutMs: 1000,
  input: {
    shell: choice(["bash", "zsh", "fish"], "Which shell", { position: 0, value: "SHELL" }),
    line: optionalText("Instead of the script: completions for the end of this command line", {
      value: "TEXT",
    }),
  },
  output: () => v.object({ text: v.string() }),
  print: ({ text }) => text,
  sample: [{ shell: "bash" }, { shell: "fish", line: "agent-desktop cl" }],
  examples: ["agent-desktop completions bash", 'agent-desktop completions fish --line "agent-desktop cl"'],
  async run(args, ctx) {
    const { complete, completionScript } = await import("../cli/completions.ts")
    if (args.line === undefined) return new PlainText(completionScript(args.shell))
    const found = await complete(args.line, {
      commands: ctx.commands,
      globals,
      live: (kind) => unlessRefused(liveCandidates(kind, ctx)),
    })
    return new PlainText(found.map(lineOf).join(""))
  },
})

/** Offers nothing if there is no desktop to ask. */
async function unlessRefused(found: Promise<readonly Candidate[]>): Promise<readonly Candidate[]> {
  try {
    return await found
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}

async function liveCandidates(kind: Live, ctx: Context): Promise<readonly Candidate[]> {
  switch (kind) {
    case "app": {
      const names = (await ctx.adapter.apps()).map(({ name }) => name)
      return [...new Set(names)].map((value) => ({ value }))
    }
    case "window":
      return (await ctx.adapter.windows()).map(({ id, title }) => ({ value: id, description: title }))
    case "ref": {
      const { inner } = await ctx.refs.load()
      return [...inner].map(([value, { role, name }]) => ({
        value,
        description: name ? `${role} ${quoted(name)}` : role,
      }))
    }
    case "desktop":
      return (await ctx.adapter.desktops({ kind: "list" })).map(({ name }) => ({ value: name }))
    default:
      return kind satisfies never
  }
}

/** One candidate a line. Names with control characters are not offered. */
function lineOf({ value, description }: Candidate): string {
  const control = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/g
  if (value.search(control) >= 0) return ""
  return description ? `${value}\t${description.replace(control, " ").slice(0, 80)}\n` : `${value}\n`
}
