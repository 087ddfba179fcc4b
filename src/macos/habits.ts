import { Failure } from "./failure.ts"
import { type Attributes, asFlag, asText } from "./value.ts"

/** So many of a kind have to agree before the next one is taken to be like them. */
const SAMPLES = 3

/**
 * What the controls of one tree offer, kind by kind. To list the actions of an element takes a round
 * trip of its own, and one button of an app is like the next. It only fills what a snapshot notes
 * down: whoever acts on an element asks that element, and what decides whether a node can be acted on
 * at all is never taken from others.
 */
export class Habits {
  readonly #kinds = new Map<string, { actions: ReadonlySet<string>; alike: number }>()

  actionsOf(
    structure: Attributes,
    web: boolean,
    ask: () => ReadonlySet<string> | Failure,
  ): ReadonlySet<string> | Failure {
    const role = asText(structure.AXRole) ?? ""
    if (!UNIFORM.has(role)) return ask()
    const kind = `${role} ${asText(structure.AXSubrole)} ${asFlag(structure.AXEnabled)} ${web}`
    const known = this.#kinds.get(kind)
    if (known && known.alike >= SAMPLES) return known.actions
    const actions = ask()
    if (actions instanceof Failure) return actions
    const same = !known || equal(known.actions, actions)
    // Once two of a kind differ, every further one is asked.
    this.#kinds.set(kind, { actions, alike: same ? (known?.alike ?? 0) + 1 : Number.NaN })
    return actions
  }
}

/** Roles whose controls come from the toolkit; cells, rows and pictures get their actions one by one. */
const UNIFORM: ReadonlySet<string> = new Set([
  "AXButton",
  "AXCheckBox",
  "AXColorWell",
  "AXComboBox",
  "AXIncrementor",
  "AXLink",
  "AXMenuBarItem",
  "AXMenuButton",
  "AXMenuItem",
  "AXPopUpButton",
  "AXRadioButton",
  "AXSlider",
  "AXTextArea",
  "AXTextField",
])

function equal(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name))
}
