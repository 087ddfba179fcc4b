import type { Performed } from "../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { type Atspi, INTERFACE, property, type Ref, readNumber } from "./atspi.ts"
import { method, readAs } from "./dbus.ts"
import { type Element, unlessRefused } from "./element.ts"
import { ROLE } from "./roles.ts"
import { can, NOT_DELIVERED, request } from "./send.ts"

/** Text and numbers, through the interfaces that have them. */

/** Puts text at the caret, in place of what is selected there. */
export async function insertText(atspi: Atspi, element: Element, text: string): Promise<Performed> {
  const field = await fieldOf(atspi, element.ref)
  if (!field) return NOT_DELIVERED
  if (text === "") return { method: "atspi:EditableText.InsertText", delivery: "delivered_verified" }
  const { start, end } = await selection(atspi, field)
  if (end > start) {
    const how = "EditableText.DeleteText"
    const cut = await request(atspi, field, how, method(`org.a11y.atspi.${how}`, "ii", [start, end]))
    if (cut.delivery !== "delivered_unverified") return cut
  }
  // ATK counts bytes, Qt counts UTF-16 units and pads what is missing.
  const length = element.place.toolkit === "Qt" ? text.length : Buffer.byteLength(text)
  const how = "EditableText.InsertText"
  const inserted = await request(
    atspi,
    field,
    how,
    method(`org.a11y.atspi.${how}`, "isi", [start, text, length]),
  )
  if (inserted.delivery !== "not_delivered" || end === start) return inserted
  return { method: `atspi:${how}`, delivery: "delivery_uncertain" }
}

export async function clearText(atspi: Atspi, { ref }: Element): Promise<Performed> {
  const field = await fieldOf(atspi, ref)
  return field ? setText(atspi, field, "") : NOT_DELIVERED
}

export async function setValue(atspi: Atspi, { ref }: Element, value: string): Promise<Performed> {
  const hasNumber = await can(atspi, ref, INTERFACE.Value)
  const number = Number(value)
  if (hasNumber && value.trim() !== "" && Number.isFinite(number)) {
    await refuseOutOfRange(atspi, ref, number)
    return setNumber(atspi, ref, number)
  }
  const field = await fieldOf(atspi, ref)
  if (field) return setText(atspi, field, value)
  if (!hasNumber) return NOT_DELIVERED
  throw new AppError("INVALID_ARGS", `'${value}' is not a number, which this element needs`, {
    suggestion: "Pass a number, such as 50",
    disposition: NOTHING_DELIVERED,
  })
}

export async function setNumber(atspi: Atspi, ref: Ref, value: number): Promise<Performed> {
  const called = method("org.freedesktop.DBus.Properties.Set", "ssv", [
    "org.a11y.atspi.Value",
    "CurrentValue",
    { signature: "d", value },
  ])
  return request(atspi, ref, "Value.CurrentValue", called)
}

export interface Range {
  readonly now: number
  readonly least: number
  readonly most: number
  /** The smallest step that it says it makes; 0: it does not say. */
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

/** The element itself, or the field that a combo box is typed into. */
async function fieldOf(atspi: Atspi, ref: Ref): Promise<Ref | undefined> {
  if (await can(atspi, ref, INTERFACE.EditableText)) return ref
  if ((await atspi.role(ref)) !== ROLE.COMBO_BOX) return undefined
  return findField(atspi, ref, 2)
}

async function findField(atspi: Atspi, ref: Ref, levels: number): Promise<Ref | undefined> {
  for (const child of (await atspi.children(ref)).slice(0, MOST_PARTS)) {
    if (await can(atspi, child, INTERFACE.EditableText)) return child
    const deeper = levels > 1 ? await findField(atspi, child, levels - 1) : undefined
    if (deeper) return deeper
  }
  return undefined
}

const MOST_PARTS = 8

async function selection(atspi: Atspi, ref: Ref): Promise<{ start: number; end: number }> {
  const [count, caret, size] = await Promise.all([
    unlessRefused(atspi.call(ref, method("org.a11y.atspi.Text.GetNSelections"))),
    unlessRefused(atspi.call(ref, property("Text", "CaretOffset"))),
    atspi.characterCount(ref),
  ])
  if (count && readAs(count, "i").i32() > 0) {
    const reply = await unlessRefused(atspi.call(ref, method("org.a11y.atspi.Text.GetSelection", "i", [0])))
    if (reply) {
      const body = readAs(reply, "ii")
      const [a, b] = [body.i32(), body.i32()]
      return { start: Math.min(a, b), end: Math.max(a, b) }
    }
  }
  const at = caret ? readNumber(caret) : size
  // A field that never had the focus may report no caret: its end is where a user would go on.
  const offset = at < 0 || at > size ? size : at
  return { start: offset, end: offset }
}

async function refuseOutOfRange(atspi: Atspi, ref: Ref, value: number): Promise<void> {
  const range = await readRange(atspi, ref)
  if (!range || range.least >= range.most || (value >= range.least && value <= range.most)) return
  const { least, most } = range
  throw new AppError("ACTION_FAILED", `${value} is outside the element's range ${least} to ${most}`, {
    suggestion: `Pass a value from ${least} to ${most}`,
    details: { kind: "out_of_range", min: least, max: most },
    disposition: NOTHING_DELIVERED,
  })
}

function setText(atspi: Atspi, ref: Ref, text: string): Promise<Performed> {
  const how = "EditableText.SetTextContents"
  return request(atspi, ref, how, method(`org.a11y.atspi.${how}`, "s", [text]))
}
