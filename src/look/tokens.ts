/**
 * An upper estimate of the tokens that a language model counts for a text. Real vocabularies are megabytes, so the
 * estimate goes by letters and signs. For texts of applications in a hundred languages it is never below the count of
 * o200k_base or cl100k_base, and for English only a little above. See docs/tokens.md.
 */
export function estimateTokens(text: string): number {
  let cost = 0
  for (const [piece] of text.matchAll(PIECES)) cost += costOf(piece)
  // A blank at the end is a token of its own.
  return text === "" ? 0 : Math.max(1, Math.ceil(cost))
}

/** Words, numbers, blanks, signs, and single other characters. A token rarely spans two of these. */
const PIECES = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+| +|[!-/:-@[-`{-~]+|./gsu

function costOf(piece: string): number {
  const first = piece.codePointAt(0) ?? 0
  if (first > 0x7f) return costOfForeign(first)
  if ((first | 0x20) >= 0x61 && (first | 0x20) <= 0x7a) return costOfWord(piece)
  if (first >= 0x30 && first <= 0x39) return Math.ceil(piece.length / 3)
  // A single blank is part of the token that follows.
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
    // Three consonants are not a syllable: an abbreviation or a key.
    cost += consonants > 3 ? 1 : consonants > 2 ? 0.75 : 0.33
  }
  return /^[A-Z]{2}/.test(word) ? cost * 1.3 : cost
}

const VOWELS = new Set("aeiouyAEIOUY")

/** Words of trees, and of most menus and buttons, with their highest cost. */
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

/** Words of one token, also with a capital letter. */
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

/** Signs of JSON and quotes that are one token. */
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

/** A character never takes more tokens than it has UTF-8 bytes. The most common scripts take fewer. */
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
