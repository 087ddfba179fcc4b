import { NOT_DELIVERED, type Performed } from "../../action.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { method, readAs } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, type Interfaces, property, type Ref, readNumber } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { type Element, unlessRefused } from "./element.ts"
import { ROLE } from "./roles.ts"
import type { Sender } from "./send.ts"

/** Changes texts and numbers through EditableText and Value. */

/** Puts text at the caret, and replaces the selection; in a field without the focus, at the end. */
export async function insertText(to: Sender, { ref, origin }: Element, text: string): Promise<Performed> {
  const field = await fieldOf(to, ref)
  if (!field) return NOT_DELIVERED
  if (text === "") return { method: "atspi:EditableText.InsertText", delivery: "delivered_verified" }
  const { start, end } = await selection(to.atspi, field)
  if (end > start) {
    const how = "EditableText.DeleteText"
    const cut = await to.request(field, how, method(`org.a11y.atspi.${how}`, "ii", [start, end]))
    if (cut.delivery !== "delivered_unverified") return cut
  }
  const length = origin.traits.textLengthIn === "utf-16" ? text.length : Buffer.byteLength(text)
  const how = "EditableText.InsertText"
  const inserted = await to.request(field, how, method(`org.a11y.atspi.${how}`, "isi", [start, text, length]))
  if (origin.traits.caretStaysBeforeInsertion && inserted.delivery === "delivered_unverified")
    await placeCaret(to, field, start + [...text].length)
  if (inserted.delivery !== "not_delivered" || end === start) return inserted
  throw new AppError("ACTION_FAILED", "The selection was deleted, but the app refused the new text", {
    suggestion: "Run 'snapshot' to see what the field holds now before trying anything else",
    platformDetail: `EditableText.DeleteText was done, ${how} was refused`,
    details: { kind: "half_done" },
    disposition: { delivery: "delivered_unverified", retry: "unsafe" },
  })
}

/** Also clears the selection. */
export function placeCaret(to: Sender, field: Ref, offset: number): Promise<Performed> {
  const how = "Text.SetCaretOffset"
  return to.request(field, how, method(`org.a11y.atspi.${how}`, "i", [offset]))
}

export async function clearText(to: Sender, { ref }: Element): Promise<Performed> {
  const field = await fieldOf(to, ref)
  return field ? setText(to, field, "") : NOT_DELIVERED
}

export async function setValue(to: Sender, { ref, origin }: Element, value: string): Promise<Performed> {
  const [interfaces, role] = await Promise.all([to.atspi.interfaces(ref), to.atspi.role(ref)])
  const isField = (interfaces & INTERFACE.EditableText) !== 0
  const isUnheard = origin.traits.fieldNumbersAreUnheard && isField
  const isNumbered = (interfaces & INTERFACE.Value) !== 0 && !NUMBERED.has(role)
  const hasNumber = isNumbered && !isUnheard
  const number = value.trim() === "" ? Number.NaN : Number(value)
  if (isNumbered && Number.isFinite(number)) await refuseOutOfRange(to.atspi, ref, number)
  if (hasNumber && Number.isFinite(number)) {
    const mustBeTyped =
      (origin.traits.spinNumbersAreUnheard && role === ROLE.SPIN_BUTTON && !isField) ||
      (origin.traits.emptyFieldsIgnoreNumbers && (await isEmptyField(to.atspi, ref, role, interfaces))) ||
      (origin.traits.pageNumbersAreUnheard && (await isMadeByPage(to.atspi, ref)))
    return mustBeTyped ? NOT_DELIVERED : setNumber(to, ref, number)
  }
  const field = await fieldOf(to, ref)
  if (field) return setText(to, field, value)
  const isSheetCell = role === ROLE.TABLE_CELL && origin.traits.sheetCellsAreTypedOver
  if (!hasNumber || isSheetCell) return NOT_DELIVERED
  throw new AppError("ACTION_FAILED", `'${value}' is not a number, which this element needs`, {
    suggestion: "Pass a number: agent-desktop set-value REF 50",
    details: { kind: "not_a_number" },
    disposition: NOTHING_DELIVERED,
  })
}

async function isEmptyField(atspi: Atspi, ref: Ref, role: number, interfaces: Interfaces): Promise<boolean> {
  return (
    role === ROLE.SPIN_BUTTON &&
    (interfaces & INTERFACE.Text) !== 0 &&
    (await atspi.characterCount(ref)) === 0
  )
}

/** True for a slider or spin button that a page has built itself: only keys reach its script. */
async function isMadeByPage(atspi: Atspi, ref: Ref): Promise<boolean> {
  return (await unlessRefused(atspi.attributes(ref)))?.has("xml-roles") === true
}

/** Roles whose number is a state that users do not set, e.g. in LibreOffice. */
const NUMBERED: ReadonlySet<number> = new Set([
  ROLE.PUSH_BUTTON,
  ROLE.TOGGLE_BUTTON,
  ROLE.CHECK_BOX,
  ROLE.RADIO_BUTTON,
  ROLE.COMBO_BOX,
  ROLE.TREE_ITEM,
])

export async function setNumber(to: Sender, ref: Ref, value: number): Promise<Performed> {
  const called = method("org.freedesktop.DBus.Properties.Set", "ssv", [
    "org.a11y.atspi.Value",
    "CurrentValue",
    { signature: "d", value },
  ])
  return to.request(ref, "Value.CurrentValue", called)
}

export interface Range {
  readonly now: number
  readonly least: number
  readonly most: number
  /** The smallest step. 0: not reported. */
  readonly step: number
}

export async function readRange(atspi: Atspi, ref: Ref): Promise<Range | undefined> {
  const names = ["CurrentValue", "MinimumValue", "MaximumValue", "MinimumIncrement"]
  const [now, least, most, step = 0] = await Promise.all(
    names.map((name) => unlessRefused(atspi.call(ref, property("Value", name)).then(readNumber))),
  )
  return now === undefined || least === undefined || most === undefined
    ? undefined
    : { now, least, most, step }
}

/** The element itself, or the field inside a combo box. */
export async function fieldOf(to: Sender, ref: Ref): Promise<Ref | undefined> {
  if (to.traits.editableTextIsIgnored) return undefined
  if (await to.can(ref, INTERFACE.EditableText)) return ref
  if ((await to.atspi.role(ref)) !== ROLE.COMBO_BOX) return undefined
  return findField(to, ref, 2)
}

async function findField(to: Sender, ref: Ref, levels: number): Promise<Ref | undefined> {
  for (const child of (await to.atspi.children(ref)).slice(0, MOST_PARTS)) {
    if (await to.can(child, INTERFACE.EditableText)) return child
    const deeper = levels > 1 ? await findField(to, child, levels - 1) : undefined
    if (deeper) return deeper
  }
  return undefined
}

const MOST_PARTS = 8

async function selection(atspi: Atspi, ref: Ref): Promise<{ start: number; end: number }> {
  const [count, caret, size, states] = await Promise.all([
    unlessRefused(atspi.call(ref, method("org.a11y.atspi.Text.GetNSelections"))),
    unlessRefused(atspi.call(ref, property("Text", "CaretOffset"))),
    atspi.characterCount(ref),
    atspi.states(ref),
  ])
  // Without the focus, the old caret position means nothing.
  if (!has(states, STATE.FOCUSED)) return { start: size, end: size }
  if (count && readAs(count, "i").i32() > 0) {
    const reply = await unlessRefused(atspi.call(ref, method("org.a11y.atspi.Text.GetSelection", "i", [0])))
    if (reply) {
      const body = readAs(reply, "ii")
      const [a, b] = [body.i32(), body.i32()]
      return { start: Math.min(a, b), end: Math.max(a, b) }
    }
  }
  const at = caret ? readNumber(caret) : size
  const offset = at < 0 || at > size ? size : at
  return { start: offset, end: offset }
}

async function refuseOutOfRange(atspi: Atspi, ref: Ref, value: number): Promise<void> {
  const range = await readRange(atspi, ref)
  if (!range || range.least >= range.most || (value >= range.least && value <= range.most)) return
  const { least, most } = range
  throw new AppError("ACTION_FAILED", `${value} is outside the element's range ${least} to ${most}`, {
    suggestion: `Pass a value from ${least} to ${most}: agent-desktop set-value REF ${value < least ? least : most}`,
    details: { kind: "out_of_range", min: least, max: most },
    disposition: NOTHING_DELIVERED,
  })
}

export function setText(to: Sender, ref: Ref, text: string): Promise<Performed> {
  const how = "EditableText.SetTextContents"
  return to.request(ref, how, method(`org.a11y.atspi.${how}`, "s", [text]))
}
