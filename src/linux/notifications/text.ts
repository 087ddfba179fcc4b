/** Texts of notifications, made safe for an agent: any program can send anything. */

const MAX_TITLE = 1000
const MAX_BODY = 10_000
const MAX_ACTIONS = 20
const MAX_LABEL = 200
const MAX_KEY = 1000

export interface NotificationTexts {
  readonly app: string
  readonly title: string
  readonly body: string
  readonly actions: readonly NotificationAction[]
}

/** `key` is for the app, `name` for the agent. */
export interface NotificationAction {
  readonly key: string
  readonly name: string
}

/** The texts of a call of Notify, bounded and without markup. */
export function textsOf(
  app: string,
  title: string,
  body: string,
  actions: readonly string[],
): NotificationTexts {
  return { app: oneLine(app), title: oneLine(title), body: bodyText(body), actions: nameActions(actions) }
}

/** One line of at most 1000 characters. */
export function oneLine(text: string): string {
  return cut(text, MAX_TITLE)
    .replace(/[\s\x00-\x1f\x7f-\x9f]+/g, " ")
    .trim()
}

/** Lines of text of at most 10,000 characters altogether, without control characters. */
export function lines(text: string): string {
  return cut(text, MAX_BODY)
    .replace(/\r\n?/g, "\n")
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]+/g, " ")
    .trim()
}

/**
 * Removes the few tags of the specification's markup. Many apps send plain text instead, so everything that is not one of
 * those tags or entities stays.
 */
export function bodyText(markup: string): string {
  const plain = cut(markup, 4 * MAX_BODY)
    .replace(/<img\s[^<>]*>/gi, (tag) => /\salt="([^"]*)"/i.exec(tag)?.[1] ?? "")
    .replace(/<br\s*\/?>/gi, "\n")
    .replace(/<\/?(?:b|i|u|a|s|tt|em|strong|span|p|big|small|sub|sup)(?:\s[^<>]*)?\/?>/gi, "")
    .replace(/&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (whole, name, decimal, hex) =>
      name
        ? (ENTITIES[name.toLowerCase()] ?? whole)
        : character(decimal ? Number(decimal) : Number.parseInt(hex, 16)),
    )
  return lines(plain)
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const character = (code: number): string =>
  code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? "\ufffd" : String.fromCodePoint(code)

/** Pairs of key and label. Labels may be missing or alike, but each name must mean one key. */
function nameActions(pairs: readonly string[]): readonly NotificationAction[] {
  const labels = new Map<string, string>()
  for (let at = 0; at + 1 < pairs.length && labels.size < MAX_ACTIONS; at += 2) {
    const key = pairs[at] ?? ""
    if (key.length <= MAX_KEY && !labels.has(key))
      labels.set(key, cut(oneLine(pairs[at + 1] ?? ""), MAX_LABEL) || oneLine(key))
  }
  const all = [...labels.values()]
  return [...labels].map(([key, label]) => ({
    key,
    name: all.filter((other) => other === label).length > 1 ? `${label} (${oneLine(key)})` : label,
  }))
}

/** The ellipsis counts as one of the characters; a pair of surrogates stays whole. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`
}
