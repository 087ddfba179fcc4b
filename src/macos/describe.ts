import type { Handle, Seen } from "../adapter.ts"
import { MAX_LABELS, textsInside } from "../describe/draft.ts"
import type { Role } from "../node.ts"
import { isEmpty, overlaps } from "../rect.ts"
import { MAX_TEXT } from "./cf.ts"
import { hintOf, labelText, nameOf, valueText } from "./names.ts"
import { isNamedInside, isSeeThrough, type Labelled, type Reading } from "./reading.ts"
import { actionNames, statesOf } from "./states.ts"
import { asFlag, asText, asWords, type Element, frameOf } from "./value.ts"

/** A handle is the element itself; the core never looks inside. */
export function handleOf(element: Element): Handle {
  return element as unknown as Handle
}

export function elementOf(handle: Handle): Element {
  return handle as unknown as Element
}

/** Describes everything that was read of an element in contract words. */
export function describe(reading: Reading): Seen {
  const { facts, area, index, label } = reading
  const { secure, attributes, bounds } = facts
  const name = nameOf(attributes, {
    label: label && labelText(label.attributes),
    inside: nameInside(reading),
  })
  // macOS reports the lines between the items of a menu as items, too.
  const isLine = facts.role === "menuitem" && !name && asFlag(attributes.AXEnabled) === false
  const role = isLine ? "separator" : facts.role
  const offers = isLine ? undefined : facts.offers
  const states = statesOf(role, attributes, { secure, interactive: offers !== undefined })
  if (role === "textfield" && offers?.settable === false && !offers.typable) states.push("readonly")
  const frame = bounds ?? frameOf(attributes)
  if (frame && area && !isEmpty(frame) && !overlaps(frame, area)) states.push("offscreen")
  const description = asWords(attributes.AXDescription)
  return {
    handle: handleOf(facts.element),
    role,
    name,
    value: secure ? undefined : valueText(role, attributes.AXValue),
    description: description === name ? undefined : description,
    hint: hintOf(attributes, name),
    states,
    bounds,
    actions: offers && actionNames(role, states, attributes, offers),
    identifier: asWords(attributes.AXIdentifier) ?? asWords(attributes.AXDOMIdentifier),
    index,
    ...(facts.partial ? { isPartial: true } : {}),
    ...(reading.isInPage ? { echoes: true, tellsLate: 400 } : {}),
    // If a text was cut, the written part may be missing.
    ...((asText(attributes.AXValue)?.length ?? 0) >= MAX_TEXT ? { echoes: true } : {}),
  }
}

function nameInside({ facts, inside }: Reading): string | undefined {
  if (!isNamedInside(facts)) return undefined
  const texts = textsInside(inside, isItem(facts.role) ? ITEM_LABELS : LABELS)
  // The first text of a row is its subject; the others are its columns.
  const used = texts.slice(0, facts.role === "treeitem" ? 1 : MAX_LABELS)
  return used.length > 0 ? used.join(" ") : undefined
}

/** True for an element that may show its name in a field, where it can be changed, as a file does. */
const isItem = (role: Role): boolean => role === "cell" || role === "treeitem"

const LABELS = {
  levels: 2,
  most: MAX_LABELS,
  isText: (role: Role) => role === "statictext",
  isThrough: isSeeThrough,
  textOf: ({ attributes }: Labelled) => labelText(attributes),
}

const ITEM_LABELS = { ...LABELS, isText: (role: Role) => role === "statictext" || role === "textfield" }
