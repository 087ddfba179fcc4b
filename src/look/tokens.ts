/**
 * About how many tokens a language model counts for a text, from above. Real vocabularies are megabytes,
 * so this goes by what texts are made of: on what applications say in a hundred languages it is never
 * less than o200k_base or cl100k_base count, and on English little more. See docs/tokens.md.
 */
export function estimateTokens(text: string): number {
  let cost = 0
  for (const [piece] of text.matchAll(PIECES)) cost += costOf(piece)
  // A blank that begins nothing is a token of its own.
  return text === "" ? 0 : Math.max(1, Math.ceil(cost))
}

/** Words, numbers, blanks, signs, and other characters one by one: a token hardly ever spans two of these. */
const PIECES = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+| +|[!-/:-@[-`{-~]+|./gsu

function costOf(piece: string): number {
  const first = piece.codePointAt(0) ?? 0
  if (first > 0x7f) return costOfForeign(first)
  if ((first | 0x20) >= 0x61 && (first | 0x20) <= 0x7a) return costOfWord(piece)
  if (first >= 0x30 && first <= 0x39) return Math.ceil(piece.length / 3)
  // A single blank is the beginning of the token that follows.
  if (first === 0x20) return piece.length > 1 ? 1 : 0
  return costOfSigns(piece)
}

function costOfWord(word: string): number {
  const known = WORDS.get(word) ?? (COMMON.has(word.toLowerCase()) ? 1 : undefined)
  if (known !== undefined) return known
  let cost = 0.7
  let consonants = 0
  for (const letter of word) {
    consonants = VOWELS.has(letter) ? 0 : consonants + 1
    // No syllable: abbreviations, keys, what is not a word at all.
    cost += consonants > 3 ? 1 : consonants > 2 ? 0.75 : 0.33
  }
  return /^[A-Z]{2}/.test(word) ? cost * 1.3 : cost
}

const VOWELS = new Set("aeiouyAEIOUY")

/** The words of trees, and of most menus and buttons, at what they cost at most. */
const WORDS = new Map(
  [
    `button checkbox link tab slider cell switch option window group label separator toolbar image container
    menu list table row column outline dialog sheet alert document heading paragraph status tooltip form
    region navigation main banner search grid terminal unknown enabled disabled focused checked unchecked
    expanded collapsed selected pressed secure readonly required busy modal hidden invalid ref id role name
    value description hint states bounds children count version ok command data snapshot app title complete
    tree true false refs incomplete at width height characters`,
    `textfield menuitem combobox treeitem radiobutton incrementor listbox statictext scrollbar menubar
    columnheader rowheader tablist tabpanel popover webarea progressbar splitter scrollarea titlebar datefield
    indeterminate offscreen multiline haspopup omitted`,
    "menubutton radiogroup complementary multiselectable",
  ].flatMap((words, i) => words.split(/\s+/).map((word): [string, number] => [word, i + 1])),
)

/** One token each, also with a capital. */
const COMMON = new Set(
  `the size file layout color error for format show with text open new type print line all set right from and
  left save move current options only page select display dark light font number input folder you mode this
  default create top general find close end copy use action bottom selection address information one key path
  out location delete replace add case read day editor custom changes start system none header process clear
  insert contents icon other source previous change help notification calendar down style time password after
  cancel next word view history entry item rename about remove below closed tabs settings undo tool before
  preview hide device panel values info properties enter standard date pages more apply cut paste home back
  forward edit tools send reply yes stop run reload download profile account first last up zoom sort filter go
  to of in is on off button link tab option window group label table row column image menu list document
  status search`.split(/\s+/),
)

function costOfSigns(signs: string): number {
  if (SIGNS.has(signs)) return 1
  return /^["{}[\],:]+$/.test(signs) ? Math.ceil((signs.length + 1) / 2) : signs.length
}

/** What JSON and quotes are made of. */
const SIGNS = new Set([
  `","`,
  `":`,
  `":"`,
  `,"`,
  `":["`,
  `":{"`,
  `":"","`,
  `""`,
  `},"`,
  `"},{"`,
  `("`,
  `")`,
  `{"`,
])

/** UTF-8 bytes are never less than tokens; the scripts that most people read cost less. */
function costOfForeign(code: number): number {
  for (const [from, to, cost] of SCRIPTS) if (code >= from && code <= to) return cost
  return code < 0x800 ? 2.1 : code < 0x10000 ? 3.1 : 4.4
}

const SCRIPTS: readonly (readonly [number, number, number])[] = [
  [0xc0, 0xff, 1.2],
  [0x100, 0x17f, 1.8],
  [0x370, 0x3ff, 1.2],
  [0x410, 0x44f, 0.85],
  [0x5d0, 0x6ff, 1.25],
  [0x900, 0x9ff, 1.6],
  [0xe00, 0xe7f, 1.2],
  [0x2026, 0x2026, 1],
  [0x3040, 0x30ff, 1.1],
  [0x4e00, 0x9fff, 1.5],
  [0xac00, 0xd7a3, 1.5],
]
