import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { PlainText } from "../envelope.ts"
import { AppError, plainWord } from "../errors.ts"
import { choice, optionalText } from "../schema/inputs.ts"
import { count, optionalString } from "../schema/outputs.ts"

export const skills = defineCommand({
  name: "skills",
  summary: "Print guidance for agents that fits this version; read 'skills get core' first",
  group: "integrate",
  effect: "reads",
  tool: "never",
  trace: "line",
  input: {
    action: choice(["list", "get"], "list them, or get one as text", { position: 0, value: "list|get" }),
    name: optionalText("Which one to get", { position: 1, value: "NAME", traced: true }),
  },
  output: () =>
    v.object({
      skills: v.optional(v.array(v.object({ name: v.string(), description: v.string(), tokens: count() }))),
      text: optionalString(),
    }),
  print: "facts",
  sample: [{ action: "list" }, { action: "get", name: "core" }],
  examples: ["agent-desktop skills get core", "agent-desktop skills list"],
  check(args) {
    if ((args.action === "get") === (args.name !== undefined)) return
    throw new AppError(
      "INVALID_ARGS",
      args.name === undefined ? "Get which skill?" : "A list takes no name",
      {
        suggestion:
          args.name === undefined
            ? "agent-desktop skills get core"
            : `agent-desktop skills get ${plainWord(args.name, "core")}`,
        details: { argument: "name" },
      },
    )
  },
  async run(args) {
    const { skillNamed, skills } = await import("../mcp/skills.ts")
    if (args.name !== undefined) return new PlainText(skillNamed(args.name).text)
    return { skills: skills.map(({ name, description, tokens }) => ({ name, description, tokens })) }
  },
})
