import { NOT_DELIVERED, type Performed } from "../../action.ts"
import type { NoText, TextAccess, TextRange, TextRun } from "../../content/text.ts"
import { method, readAs } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, property, type Ref, readNumber } from "./atspi.ts"
import { placeCaret } from "./editing.ts"
import { type Element, LineElement, unlessRefused } from "./element.ts"
import { translatingErrors } from "./read-tree.ts"
import { ROLE } from "./roles.ts"
import { Sender } from "./send.ts"

/** The Text and Hypertext interfaces. */

export async function openText(atspi: Atspi, element: Element): Promise<TextAccess | NoText> {
  const { origin } = element
  // The text of its object is that of the whole page.
  const ref = element instanceof LineElement ? undefined : await textOf(atspi, element.ref)
  if (!ref) return { missing: "org.a11y.atspi.Text" }
  const length = Math.max(0, await atspi.characterCount(ref))
  const safely = <T>(work: Promise<T>): Promise<T> => translatingErrors(origin, work)
  return {
    length,
    unit: origin.traits.offsetsIn ?? "character",
    read: ({ start, end }) => safely(atspi.text(ref, start, end)),
    caret: () => safely(caretOf(atspi, ref, length)),
    selection: () => safely(selectionOf(atspi, ref)),
    runs: (range, most) => safely(runsOf(atspi, ref, range, most)),
  }
}

/** The element itself, or the field inside a combo box. */
async function textOf(atspi: Atspi, ref: Ref, levels = 2): Promise<Ref | undefined> {
  const [interfaces, role] = await Promise.all([atspi.interfaces(ref), atspi.role(ref)])
  if (role === ROLE.PASSWORD_TEXT) return undefined
  if (interfaces & INTERFACE.Text) return ref
  if ((role !== ROLE.COMBO_BOX && levels === 2) || levels === 0) return undefined
  for (const child of (await atspi.children(ref)).slice(0, MOST_PARTS)) {
    const found = await textOf(atspi, child, levels - 1)
    if (found) return found
  }
  return undefined
}

const MOST_PARTS = 8

async function caretOf(atspi: Atspi, ref: Ref, length: number): Promise<number | undefined> {
  const at = await unlessRefused(atspi.ask(ref, CARET, readNumber))
  return at === undefined || at < 0 || at > length ? undefined : at
}

async function selectionOf(atspi: Atspi, ref: Ref): Promise<TextRange | undefined> {
  const count = await unlessRefused(atspi.ask(ref, SELECTIONS, (reply) => readAs(reply, "i").i32()))
  if (!count) return undefined
  const [a, b] = await atspi.ask(ref, SELECTION, (reply) => {
    const body = readAs(reply, "ii")
    return [body.i32(), body.i32()] as const
  })
  return a === b ? undefined : { start: Math.min(a, b), end: Math.max(a, b) }
}

async function runsOf(
  atspi: Atspi,
  ref: Ref,
  { start, end }: TextRange,
  most: number,
): Promise<readonly TextRun[]> {
  const links = await linksOf(atspi, ref)
  const runs: TextRun[] = []
  for (let at = start; at < end && runs.length < most; ) {
    const run = await atspi.ask(ref, ATTRIBUTE_RUN.with(at, true), (reply) => {
      const body = readAs(reply, "a{ss}ii")
      const pairs = body.array(8, (reader): [string, string] => {
        reader.align(8)
        return [reader.string(), reader.string()]
      })
      return { pairs: new Map(pairs), from: body.i32(), to: body.i32() }
    })
    const link = links.find((one) => one.start <= at && at < one.end)
    const next = links.find((one) => one.start > at)?.start ?? end
    // A run that does not advance would never end.
    const to = Math.min(Math.max(run.to, at + 1), link?.end ?? next, end)
    runs.push({ start: at, end: to, ...looksOf(run.pairs), ...(link ? { link: link.uri } : {}) })
    at = to
  }
  return runs
}

/** The attributes in the contract's words. Toolkits name some of them differently. */
function looksOf(pairs: ReadonlyMap<string, string>): Omit<TextRun, keyof TextRange> {
  const get = (...names: readonly string[]): string | undefined =>
    names.map((name) => pairs.get(name)).find((value) => value !== undefined && value !== "")
  const weight = get("weight", "font-weight")
  const slant = get("style", "font-style")
  const underline = get("underline", "text-underline-style")
  const strike = get("strikethrough", "text-line-through-style")
  const size = Number.parseFloat(get("size", "font-size") ?? "")
  const family = get("family-name", "font-family")
  const color = colorOf(get("fg-color", "color"))
  const background = colorOf(get("bg-color", "background-color"))
  const style = get("paragraph-style")
  return {
    ...(weight === undefined ? {} : { bold: isBold(weight) }),
    ...(slant === undefined ? {} : { italic: slant === "italic" || slant === "oblique" }),
    ...(underline === undefined ? {} : { underline: underline !== "none" && underline !== "false" }),
    ...(strike === undefined ? {} : { strikethrough: strike !== "none" && strike !== "false" }),
    ...(Number.isFinite(size) ? { size } : {}),
    ...(family === undefined ? {} : { family: family.replaceAll(/^"|"$/g, "") }),
    ...(color === undefined ? {} : { color }),
    ...(background === undefined ? {} : { background }),
    ...(style === undefined ? {} : { style }),
  }
}

const isBold = (weight: string): boolean => weight === "bold" || weight === "bolder" || Number(weight) >= 600

/** `#rrggbb` for `255,0,0`, `rgb(255,0,0)`, `65535,0,0` or a colour in hex. */
function colorOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (/^#[\da-f]{6}$/i.test(text)) return text.toLowerCase()
  const parts = text.match(/\d+(?:\.\d+)?/g)?.map(Number) ?? []
  if (parts.length < 3) return undefined
  const [red = 0, green = 0, blue = 0] = parts
  const most = Math.max(red, green, blue)
  const hex = (part: number): string =>
    Math.min(255, Math.round(most > 255 ? part / 257 : part))
      .toString(16)
      .padStart(2, "0")
  return `#${hex(red)}${hex(green)}${hex(blue)}`
}

interface Link extends TextRange {
  readonly uri: string
}

async function linksOf(atspi: Atspi, ref: Ref): Promise<readonly Link[]> {
  if (!((await atspi.interfaces(ref)) & INTERFACE.Hypertext)) return []
  const count = await unlessRefused(atspi.ask(ref, LINKS, (reply) => readAs(reply, "i").i32()))
  const found = await Promise.all(
    Array.from({ length: Math.min(count ?? 0, MOST_LINKS) }, (_, at) =>
      unlessRefused(linkAt(atspi, ref, at)),
    ),
  )
  return found.filter((link) => link !== undefined).toSorted((a, b) => a.start - b.start)
}

async function linkAt(atspi: Atspi, ref: Ref, at: number): Promise<Link | undefined> {
  const link = await atspi.ask(ref, LINK.with(at), (reply) => {
    const body = readAs(reply, "(so)")
    body.align(8)
    return { bus: body.string(), path: body.string() }
  })
  const [start, end, uri] = await Promise.all([
    atspi.ask(link, LINK_START, readNumber),
    atspi.ask(link, LINK_END, readNumber),
    atspi.ask(link, LINK_URI, (reply) => readAs(reply, "s").string()),
  ])
  return uri === "" || end <= start ? undefined : { start, end, uri }
}

const MOST_LINKS = 200

/** Selects a part of the text, or places the caret if the range is empty. Sends one call. */
export async function selectText(atspi: Atspi, element: Element, range: TextRange): Promise<Performed> {
  const { origin } = element
  const ref = await translatingErrors(origin, textOf(atspi, element.ref))
  if (!ref) return NOT_DELIVERED
  const to = new Sender(atspi, origin.traits)
  try {
    return await translatingErrors(origin, sendSelection(to, ref, range))
  } finally {
    await to.close()
  }
}

async function sendSelection(to: Sender, ref: Ref, range: TextRange): Promise<Performed> {
  if (range.start === range.end) {
    const placed = await moveCaret(to, ref, range.start)
    if (!to.traits.caretExtendsSelection || placed.delivery === "not_delivered") return placed
    // A selection that was typed over leaves its start behind, which shows once the caret has moved.
    return (await selectionOf(to.atspi, ref)) ? moveCaret(to, ref, range.start) : placed
  }
  const { start, end } = to.traits.selectsIn === "utf-16" ? await inUnits(to.atspi, ref, range) : range
  if (to.traits.setSelectionIsIgnored) {
    // Clears the selection.
    const placed = await placeCaret(to, ref, start)
    if (placed.delivery !== "delivered_unverified") return placed
    return to.request(ref, "Text.AddSelection", ADD_SELECTION.with(start, end))
  }
  const count = await unlessRefused(to.atspi.ask(ref, SELECTIONS, (reply) => readAs(reply, "i").i32()))
  return count
    ? to.request(ref, "Text.SetSelection", SET_SELECTION.with(0, start, end))
    : to.request(ref, "Text.AddSelection", ADD_SELECTION.with(start, end))
}

async function moveCaret(to: Sender, ref: Ref, offset: number): Promise<Performed> {
  const isSelected = to.traits.caretExtendsSelection && (await selectionOf(to.atspi, ref))
  if (isSelected) await to.request(ref, "Text.RemoveSelection", REMOVE_SELECTION)
  return placeCaret(to, ref, offset)
}

/** The same range for an app that reads in characters and selects in UTF-16 units. */
async function inUnits(atspi: Atspi, ref: Ref, { start, end }: TextRange): Promise<TextRange> {
  const [before, inside] = await Promise.all([atspi.text(ref, 0, start), atspi.text(ref, start, end)])
  const from = start === 0 ? 0 : before.length
  return { start: from, end: from + inside.length }
}

const CARET = property("Text", "CaretOffset")
const SELECTIONS = method("org.a11y.atspi.Text.GetNSelections")
const SELECTION = method("org.a11y.atspi.Text.GetSelection", "i", [0])
const SET_SELECTION = method("org.a11y.atspi.Text.SetSelection", "iii", [0, 0, 0])
const ADD_SELECTION = method("org.a11y.atspi.Text.AddSelection", "ii", [0, 0])
const REMOVE_SELECTION = method("org.a11y.atspi.Text.RemoveSelection", "i", [0])
const ATTRIBUTE_RUN = method("org.a11y.atspi.Text.GetAttributeRun", "ib", [0, true])
const LINKS = method("org.a11y.atspi.Hypertext.GetNLinks")
const LINK = method("org.a11y.atspi.Hypertext.GetLink", "i", [0])
const LINK_URI = method("org.a11y.atspi.Hyperlink.GetURI", "i", [0])
const LINK_START = property("Hyperlink", "StartIndex")
const LINK_END = property("Hyperlink", "EndIndex")
