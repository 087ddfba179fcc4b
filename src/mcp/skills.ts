/// <reference path="../../skills/markdown.d.ts" />
import core from "../../skills/core.md" with { type: "text" }
import linux from "../../skills/linux.md" with { type: "text" }
import macos from "../../skills/macos.md" with { type: "text" }
import { AppError } from "../errors.ts"
import { nearest } from "../nearest.ts"
import { errorSections } from "../schema/error-guide.ts"

export interface Skill {
  readonly name: string
  readonly description: string
  /** Markdown. */
  readonly text: string
  /** Approximate cost of reading it, in tokens. */
  readonly tokens: number
}

export const skills: readonly Skill[] = [core, errors(), linux, macos].map(skillOf)

/** Throws INVALID_ARGS for an unknown name. */
export function skillNamed(name: string): Skill {
  const found = skills.find((skill) => skill.name === name)
  if (found) return found
  const names = skills.map((skill) => skill.name)
  const near = nearest(name, names)
  throw new AppError(
    "INVALID_ARGS",
    `There is no skill '${name}'${near ? `; did you mean '${near}'?` : ""}`,
    {
      suggestion: `Use one of ${names.join(", ")}: 'agent-desktop skills get core'`,
      details: { argument: "name", nearest: near, choices: names },
    },
  )
}

/** Splits a file into its front matter (name, description) and the text that an agent reads. */
function skillOf(file: string): Skill {
  const [, head = "", text = ""] = /^---\n(.*?)\n---\n+(.*)$/s.exec(file) ?? []
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(head)?.[1] ?? ""
  return { name: field("name"), description: field("description"), text, tokens: Math.ceil(text.length / 4) }
}

function errors(): string {
  return `---
name: errors
description: Every error code, why it comes and what to do then.
---

# Errors of agent-desktop

\`error\` has \`code\`, \`message\`, often \`suggestion\` (do that), \`platform_detail\` (the system's words), \`details\` (facts, by
code) and \`disposition\` (whether anything reached the app, and whether it is safe to repeat).

${errorSections()}`
}
