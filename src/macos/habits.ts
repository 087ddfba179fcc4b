import { Failure } from "./failure.ts"
import { type Attributes, asFlag, asText } from "./value.ts"

/** Number of controls of a kind that must agree before the next one is assumed to be the same. */
const SAMPLES = 3
/** The same for texts and groups, of which one among many may be a custom control. */
const RARE_SAMPLES = 20

/**
 * Actions and writability of the controls of one tree, by kind. Listing the actions of an element takes an extra round
 * trip, and the buttons of an app are alike. The result is only used for the actions that a snapshot reports. Commands
 * that act ask the element itself, and so does the decision whether a node is interactive.
 */
export class Habits {
  readonly #actions = new Map<string, Habit<ReadonlySet<string>>>()
  readonly #settable = new Map<string, Habit<boolean>>()
  readonly #elsewhere = new Map<string, Habit<boolean>>()

  actionsOf(structure: Attributes, web: boolean, ask: () => Answer<ReadonlySet<string>>) {
    return UNIFORM.has(asText(structure.AXRole) ?? "")
      ? likeOthers(this.#actions, kindOf(structure, web), ask, equal)
      : ask()
  }

  /** The actions of an element that probably has none to report. */
  rareActionsOf(structure: Attributes, web: boolean, ask: () => Answer<ReadonlySet<string>>) {
    return likeOthers(this.#actions, kindOf(structure, web), ask, equal, RARE_SAMPLES)
  }

  /** The result of a second look for children, unless elements of the same role had none. */
  childrenElsewhere<T>(role: string, web: boolean, look: () => T | undefined): T | undefined {
    let found: T | undefined
    likeOthers(
      this.#elsewhere,
      `${role} ${web}`,
      () => {
        found = look()
        return found !== undefined
      },
      (a, b) => a === b && !a,
      RARE_SAMPLES,
    )
    return found
  }

  /** True if the value can be written. Text fields are asked one by one, since some are read-only. */
  settable(structure: Attributes, web: boolean, ask: () => Answer<boolean>) {
    return SET_BY_NUMBER.has(asText(structure.AXRole) ?? "")
      ? likeOthers(this.#settable, kindOf(structure, web), ask, Object.is)
      : ask()
  }
}

type Answer<T> = T | Failure

interface Habit<T> {
  readonly answer: T
  readonly alike: number
}

function kindOf({ AXRole, AXSubrole, AXEnabled }: Attributes, web: boolean): string {
  return `${asText(AXRole)} ${asText(AXSubrole)} ${asFlag(AXEnabled)} ${web}`
}

function likeOthers<T>(
  habits: Map<string, Habit<T>>,
  kind: string,
  ask: () => Answer<T>,
  same: (a: T, b: T) => boolean,
  samples = SAMPLES,
): Answer<T> {
  const known = habits.get(kind)
  if (known && known.alike >= samples) return known.answer
  const answer = ask()
  if (answer instanceof Failure) return answer
  const alike = !known || same(known.answer, answer)
  // Once two of a kind differ, every later one is asked.
  habits.set(kind, { answer, alike: alike ? (known?.alike ?? 0) + 1 : Number.NaN })
  return answer
}

/** Roles whose actions come from the toolkit. Apps give cells, rows and images their actions one by one. */
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

const SET_BY_NUMBER: ReadonlySet<string> = new Set(["AXIncrementor", "AXSlider", "AXStepper"])

function equal(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name))
}
