/** Qt hands on as it is what an application wrote, which for tool tips often is markup. */

/** The words of what Qt itself would show as rich text; any other text as it is. */
export function plainText(text: string): string {
  const most = text.slice(0, MOST)
  if (!isRichText(most)) return text
  return most
    .replaceAll(/<!--[\s\S]*?-->|<(head|style|script|title)\b[^>]*?(?:\/>|>[\s\S]*?<\/\1\s*>)/gi, " ")
    .replaceAll(/<\/?([a-z][a-z\d]*)\b[^<>]*>|<![^<>]*>|<\?[^<>]*>/gi, (_, tag = "") =>
      INLINE.has(tag.toLowerCase()) ? "" : " ",
    )
    .replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, decode)
    .replaceAll(/\s+/g, " ")
    .trim()
}

/** More than anybody is shown; without an end, looking for ends would take long. */
const MOST = 10_000

/** Qt's own rule: the first thing on the first line that looks like a tag is one of those that it knows. */
function isRichText(text: string): boolean {
  const start = text.trimStart().replace(/^<\?xml[\s\S]*?\?>\s*/, "")
  if (/^<!doc/i.test(start)) return true
  const [, before = "", name = ""] = /^([^<\n]*)<\s*!?([a-z\d]+)(?:\s[^>]*|\/)?>/i.exec(start) ?? []
  return name !== "" && !before.includes("&lt;") && TAGS.has(name.toLowerCase())
}

function decode(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name] ?? whole
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal)
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
}

/** What does not end a word. */
const INLINE: ReadonlySet<string> = new Set(
  "a b big cite code dfn em font i kbd nobr qt s samp small span strong sub sup tt u var".split(" "),
)

/** The elements that Qt knows. */
const TAGS: ReadonlySet<string> = new Set([
  ...INLINE,
  ..."address blockquote body br caption center dd div dl dt h1 h2 h3 h4 h5 h6 head hr html img li link".split(
    " ",
  ),
  ..."meta ol p pre script style table tbody td tfoot th thead title tr ul".split(" "),
])
