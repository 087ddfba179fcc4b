import type { Action, Performed } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Delivery, Disposition } from "../errors.ts"
import { isDialog } from "../look/cover.ts"
import type { ActionChanges } from "../look/fit-changes.ts"
import type { Node, Role, State } from "../node.ts"
import { cut } from "../refmap.ts"
import type { Target } from "../refs/resolve.ts"
import { wordsOf } from "../tree.ts"
import { dispositionOf } from "./expect.ts"

/** The answer to an action. */
export interface ActionResult {
  readonly action: string
  readonly ref_id: string
  readonly element: ActedOn
  readonly post_state?: { readonly role: Role; readonly states?: readonly State[]; readonly value?: string }
  readonly method: string
  /** Nothing was sent, because the element was already as requested. */
  readonly already?: true
  /** The app has ended. */
  readonly app_ended?: true
  readonly disposition: Disposition
  /** The reason why it is not verified: the element may not be the one it reports to be. */
  readonly doubt?: string
  /** After `type` and `set-value`: whether keys go to the field now, and if not, why. */
  readonly focused?: boolean
  readonly focus_reason?: string
  /** The menu, list or dialog that the action opened, with refs. */
  readonly popup?: Node
  readonly changes?: ActionChanges
}

/** The element that was acted on. A caller with the wrong ref notices it here. */
export interface ActedOn {
  readonly role: Role
  readonly name?: string
}

/** The element after the action. "gone": it no longer exists. undefined: it could not be read. */
export type Observation = Seen | "gone" | undefined

export function resultOf(
  { ref, seen: before }: Target,
  action: Action,
  { method, delivery, already }: Performed,
  after?: Observation | "ended",
): ActionResult {
  const isShown = typeof after === "object" && !sameState(before, after)
  return {
    action: action.kind,
    ref_id: ref,
    element: actedOn(before),
    ...(isShown ? { post_state: stateOf(asKnown(before, after, delivery), action) } : {}),
    method,
    ...(already ? { already } : {}),
    ...(after === "ended" ? { app_ended: true } : {}),
    disposition: dispositionOf(action, delivery),
  }
}

/**
 * Adds the changes to the result of an action. A menu, dialog or window that the app opened proves a click, including a
 * right click; so does a late change of the element itself.
 */
export function provenByChanges(result: ActionResult, action: Action): ActionResult {
  const { changes, disposition, doubt, ref_id } = result
  const isOpen = CLICKS.has(action.kind) && disposition.delivery === "delivered_unverified" && !doubt
  if (!changes || !isOpen || changes.settled === false) return result
  const own = changes.changed?.find((one) => one.ref_id === ref_id)
  const isProof = hasOpened(changes) || (own && differsBeyondFocus(own.states, own.was))
  return isProof ? { ...result, disposition: dispositionOf(action, "delivered_verified") } : result
}

/** True if the app opened a menu, dialog or window. Those of other apps have no tree here. */
export const hasOpened = ({ opened, added }: ActionChanges): boolean =>
  opened?.some(({ tree }) => tree) === true ||
  added?.some((one) => OPENINGS.has(one.role) || isDialog(one)) === true

const CLICKS: ReadonlySet<Action["kind"]> = new Set(["click", "double-click", "triple-click"])
const OPENINGS: ReadonlySet<string> = new Set(["menu", "popover"])

function differsBeyondFocus(
  states: readonly State[] = [],
  was: { readonly value?: string; readonly states?: readonly State[] },
): boolean {
  if (was.value !== undefined) return true
  const beyond = (some: readonly State[]): string => some.filter((state) => state !== "focused").join()
  return was.states !== undefined && beyond(states) !== beyond(was.states)
}

/** A sheet cell may report its old text for a while, which is not its state after the action. */
function asKnown(before: Seen, after: Seen, delivery: Delivery): Seen {
  const isOld = before.isTypedOver && delivery !== "delivered_verified" && after.value === before.value
  return isOld ? { ...after, value: undefined } : after
}

/** Role and name, never a value: a paragraph may hold a user's text. */
export function actedOn(seen: Seen): ActedOn {
  const name = seen.role === "paragraph" ? seen.name : wordsOf(seen)
  return { role: seen.role, ...(name ? { name: shortened(name) } : {}) }
}

const shortened = (name: string): string => (name.length > MOST_NAME ? `${cut(name, MOST_NAME)}…` : name)

/** Enough to recognize an element by; links of web pages have names as long as paragraphs. */
const MOST_NAME = 200

export function stateOf(seen: Seen, { kind }: Action): NonNullable<ActionResult["post_state"]> {
  const value = kind === "set-value" || kind === "clear" ? textIn(seen) : seen.value
  return {
    role: seen.role,
    ...(seen.states.length ? { states: seen.states } : {}),
    ...(value !== undefined && !seen.states.includes("secure") ? { value } : {}),
  }
}

/** The value, or the text of a cell that is edited in place: that is its name. */
const textIn = ({ value, name, editedBy }: Seen): string | undefined =>
  value ?? (editedBy ? (name ?? "") : undefined)

export function sameState(a: Seen, b: Seen): boolean {
  return a.role === b.role && textIn(a) === textIn(b) && a.states.join() === b.states.join()
}
