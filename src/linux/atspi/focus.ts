import type { KeptFocus } from "../../action.ts"
import type { Seen } from "../../adapter.ts"
import { hasTrait } from "../../node.ts"
import { method } from "../dbus/bus.ts"
import { type Atspi, INTERFACE } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { fieldOf, placeCaret } from "./editing.ts"
import { Element, unlessRefused } from "./element.ts"
import { listChildren } from "./facts.ts"
import { describeElement } from "./open.ts"
import { pastTheBus, translatingErrors } from "./read-tree.ts"
import { ROLE } from "./roles.ts"
import { Sender } from "./send.ts"
import { isShowing } from "./sight.ts"

/** The keyboard focus inside a window. */

/** Asks the app to focus the element within its window, unless that would raise the window. */
export async function keepFocus(atspi: Atspi, element: Element, isInFront: boolean): Promise<KeptFocus> {
  const { traits } = element.origin
  if (!isInFront && !traits.focusStaysBehind) return { kind: "behind", isInFront }
  const to = new Sender(atspi, traits)
  try {
    return { kind: await translatingErrors(element.origin, grabFocus(to, element)), isInFront }
  } finally {
    await to.close()
  }
}

async function grabFocus(to: Sender, { ref }: Element): Promise<KeptFocus["kind"]> {
  const field = await fieldOf(to, ref)
  // The focus of a combo box is in the field inside it, and the box itself does not report it.
  const taker = field ?? ref
  const done = taker === ref ? "asked" : "inside"
  const [states, interfaces] = await Promise.all([to.atspi.states(taker), to.atspi.interfaces(taker)])
  if (has(states, STATE.FOCUSED)) return done
  if ((interfaces & INTERFACE.Component) === 0) return "no route"
  const { delivery } = await to.request(taker, "Component.GrabFocus", GRAB_FOCUS)
  if (delivery === "not_delivered") return "no route"
  // Some fields select their whole text when they get the focus, and the next key would replace it.
  if (field) await placeCaret(to, field, await to.atspi.characterCount(field))
  if (done === "asked") return done
  return has(await to.atspi.states(taker), STATE.FOCUSED) ? done : "asked"
}

/**
 * The focused element below a window's frame, as a tree would show it. undefined: none reports the focus, or the window
 * has too many objects. Lists that create rows on demand are not searched. Every object is asked, without a cache:
 * Chromium keeps one only for a listener.
 */
export async function findFocused(atspi: Atspi, root: Element): Promise<Seen | undefined> {
  return translatingErrors(
    root.origin,
    pastTheBus(atspi, root, (near) => search(near, root)),
  )
}

/** Level by level, since the focus is rarely deep. Once found, only an element below it can be more exact. */
async function search(atspi: Atspi, root: Element): Promise<Seen | undefined> {
  let found: Seen | undefined
  let looked = 0
  let level: readonly Looked[] = [{ element: root, states: await atspi.states(root.ref) }]
  for (let depth = 0; level.length > 0 && depth < MOST_LEVELS && looked < MOST_OBJECTS; depth++) {
    level = (await Promise.all(level.map((one) => lookBelow(atspi, one)))).flat()
    looked += level.length
    const focused = await firstFocused(atspi, level)
    if (!focused) continue
    // GTK 4 puts a nameless field into its fields, and Qt a nameless group into its editors.
    const isPart = hasTrait(focused.seen.role, "wrapper") || found?.name
    if (!found || focused.seen.name || !isPart) found = focused.seen
    level = [focused.at]
  }
  return found
}

/** True if the default button of a dialog is disabled. Other windows rarely have one, and may be large. */
export async function hasDisabledDefault(atspi: Atspi, root: Element): Promise<boolean> {
  return translatingErrors(root.origin, findDisabledDefault(atspi, root))
}

async function findDisabledDefault(atspi: Atspi, root: Element): Promise<boolean> {
  const [role, states] = await Promise.all([atspi.role(root.ref), atspi.states(root.ref)])
  if (role === ROLE.FRAME || role === ROLE.WINDOW) return false
  let looked = 0
  let level: readonly Looked[] = [{ element: root, states }]
  for (let depth = 0; level.length > 0 && depth < MOST_LEVELS && looked < MOST_IN_DIALOG; depth++) {
    level = (await Promise.all(level.map((one) => lookBelow(atspi, one)))).flat()
    looked += level.length
    const button = level.find((one) => has(one.states, STATE.IS_DEFAULT))
    if (button) return !has(button.states, STATE.SENSITIVE) && !has(button.states, STATE.ENABLED)
  }
  return false
}

interface Looked {
  readonly element: Element
  readonly states: StateSet
}

/** The visible children of an object, without those that disappear meanwhile or do not answer. */
async function lookBelow(atspi: Atspi, { element, states }: Looked): Promise<readonly Looked[]> {
  const { ref, origin } = element
  if (!isShowing(origin, { states }) || has(states, STATE.MANAGES_DESCENDANTS)) return []
  const children = listChildren((await unlessRefused(atspi.children(ref))) ?? [])
  const parent = { ref, role: ROLE.INVALID, states, size: children.length }
  const looked = children.map(async (child): Promise<readonly Looked[]> => {
    const now = await unlessRefused(atspi.states(child.ref))
    if (now === undefined) return []
    return [{ element: new Element(child.ref, origin, parent, child.index), states: now }]
  })
  return (await Promise.all(looked)).flat()
}

/** The first that has the focus by a snapshot's rules: Qt reports it for every list's current row. */
async function firstFocused(
  atspi: Atspi,
  level: readonly Looked[],
): Promise<{ readonly seen: Seen; readonly at: Looked } | undefined> {
  for (const at of level.filter(({ states }) => has(states, STATE.FOCUSED))) {
    const { ref, origin, parent, index } = at.element
    const around = parent && { ...parent, role: await atspi.role(parent.ref) }
    const seen = await describeElement(atspi, new Element(ref, origin, around, index))
    if (seen?.states.includes("focused")) return { seen, at }
  }
  return undefined
}

const GRAB_FOCUS = method("org.a11y.atspi.Component.GrabFocus")
const MOST_LEVELS = 60
const MOST_OBJECTS = 5000
const MOST_IN_DIALOG = 500
