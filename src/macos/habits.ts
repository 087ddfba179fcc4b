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
  readonly #actions = new Map<string, Habit<ReadonlySet<string>>>()
  readonly #settable = new Map<string, Habit<boolean>>()

  actionsOf(structure: Attributes, web: boolean, ask: () => Answer<ReadonlySet<string>>) {
    return UNIFORM.has(asText(structure.AXRole) ?? "")
      ? likeOthers(this.#actions, kindOf(structure, web), ask, equal)
      : ask()
  }

  /** Whether the value can be written. Fields are asked one by one, since some of them are only to read. */
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
): Answer<T> {
  const known = habits.get(kind)
  if (known && known.alike >= SAMPLES) return known.answer
  const answer = ask()
  if (answer instanceof Failure) return answer
  const alike = !known || same(known.answer, answer)
  // Once two of a kind differ, every further one is asked.
  habits.set(kind, { answer, alike: alike ? (known?.alike ?? 0) + 1 : Number.NaN })
  return answer
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

const SET_BY_NUMBER: ReadonlySet<string> = new Set(["AXIncrementor", "AXSlider", "AXStepper"])

function equal(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name))
}
