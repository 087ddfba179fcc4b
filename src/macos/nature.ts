import { isUnread } from "./failure.ts"
import { isSecure, roleOf } from "./roles.ts"
import { type Attributes, asText, asWords } from "./value.ts"

/** What a node is, by what its structure says. */
export interface Nature {
  readonly axRole: string | undefined
  readonly role: string
  /** It is a secure field. */
  readonly secure: boolean
  /** It is one, or may be: what could not be read is no evidence that it is not. Its value is not asked for. */
  readonly hides: boolean
  /** A button that stays pressed. */
  readonly toggle: boolean
  /** What it has of its own that could be its name. */
  readonly named: "title" | "description" | undefined
}

export function natureOf(structure: Attributes): Nature {
  const { AXRole, AXSubrole, AXTitle, AXDescription } = structure
  const axRole = asText(AXRole)
  const subrole = asText(AXSubrole)
  const secure = isSecure(axRole, subrole)
  const described = asWords(AXDescription) ? "description" : undefined
  return {
    axRole,
    role: roleOf(axRole, subrole),
    secure,
    hides: secure || axRole === undefined || isUnread(AXSubrole),
    toggle: subrole === "AXToggleButton",
    named: asWords(AXTitle) ? "title" : described,
  }
}
