import type { NamedKey } from "../../keys.ts"

/** The character that a key with this keysym enters; undefined for dead, keypad and function keys. */
export function charOf(keysym: number): string | undefined {
  if ((keysym >= 0x20 && keysym <= 0x7e) || (keysym >= 0xa0 && keysym <= 0xff))
    return String.fromCharCode(keysym)
  if (keysym >= UNICODE + 0x100 && keysym <= UNICODE + 0x10ffff) return String.fromCodePoint(keysym - UNICODE)
  return legacyChars().get(keysym)
}

/** A keysym that enters this character in every toolkit. */
export function keysymOf(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (char === "\n") return RETURN
  if (char === "\t") return TAB
  return code < 0x100 ? code : UNICODE + code
}

/** A character's lower and upper case if each is one character; otherwise the character itself, twice. */
export function caseOf(char: string): readonly [string, string] {
  const lower = char.toLowerCase()
  const upper = char.toUpperCase()
  const isPair = lower !== upper && upper.toLowerCase() === lower && lower.toUpperCase() === upper
  return isPair && [...lower].length === 1 && [...upper].length === 1 ? [lower, upper] : [char, char]
}

export function isCased(char: string): boolean {
  return char.toLowerCase() !== char || char.toUpperCase() !== char
}

export function keysymOfNamed(key: NamedKey): number {
  const number = /^f(\d+)$/.exec(key)?.[1]
  return number === undefined ? (NAMED[key] ?? 0) : F1 + Number(number) - 1
}

const F1 = 0xffbe
const RETURN = 0xff0d
const TAB = 0xff09

const NAMED: Readonly<Record<string, number>> = {
  return: RETURN,
  escape: 0xff1b,
  tab: TAB,
  space: 0x20,
  backspace: 0xff08,
  forwarddelete: 0xffff,
  home: 0xff50,
  end: 0xff57,
  pageup: 0xff55,
  pagedown: 0xff56,
  left: 0xff51,
  up: 0xff52,
  right: 0xff53,
  down: 0xff54,
  insert: 0xff63,
  menu: 0xff67,
  printscreen: 0xff61,
  shift: 0xffe1,
  ctrl: 0xffe3,
  alt: 0xffe9,
  cmd: 0xffeb,
}

export const SHIFT_KEYSYM = 0xffe1
export const LEVEL3_KEYSYM = 0xfe03
export const LEVEL5_KEYSYM = 0xfe11

const UNICODE = 0x1000000

// Keysyms older than Unicode that layouts still use: Latin 2 to 4, kana, Cyrillic, Greek, signs.
const LEGACY_BLOCKS: readonly (readonly [number, string])[] = [
  [0x1a1, "Ą˘Ł ĽŚ  ŠŞŤŹ ŽŻ ą˛ł ľśˇ šşťź˝žżŔ  Ă ĹĆ Č Ę Ě  ĎĐŃŇ  Ő  ŘŮ Ű  Ţ ŕ  ă ĺć č ę ě  ďđńň  ő  řů ű  ţ˙"],
  [0x2a1, "Ħ    Ĥ  İ ĞĴ    ħ    ĥ  ı ğĵ        ĊĈ              Ġ  Ĝ    ŬŜ      ċĉ              ġ  ĝ    ŭŝ"],
  [0x3a1, " ĸŖ ĨĻ   ĒĢŦ      ŗ ĩļ   ēģŧŊ ŋĀ      Į    Ė  Ī ŅŌĶ     Ų   ŨŪ ā      į    ė  ī ņōķ     ų   ũū"],
  [
    0x4a1,
    "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜",
  ],
  [0x6a1, "ђѓёєѕіїјљњћќґўџ№ЂЃЁЄЅІЇЈЉЊЋЌҐЎЏюабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"],
  [0x7a1, "ΆΈΉΊΪ ΌΎΫ Ώ  ΅― άέήίϊΐόύϋΰώ     ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣ ΤΥΦΧΨΩ       αβγδεζηθικλμνξοπρσςτυφχψω"],
  [0x8a1, "   ⌠⌡                      ≤≠≥∫∴∝∞  ∇       ⇔⇒≡      √   ⊂⊃∩∪∧∨               ∂      ƒ    ←↑→↓"],
  [0xaa1, "        —–   … ⅓⅔⅕⅖⅗⅘⅙⅚℅  ‒       ⅛⅜⅝⅞  ™      ‘’“”℞ ′″ ✝                  ♣♦♥ ✠†‡✓✗♯♭♂♀☎⌕℗‸‚„"],
  [0x13bc, "ŒœŸ"],
  [0x20ac, "€"],
]

// Arabic, Hebrew and Thai run in parallel with Unicode.
const LEGACY_RUNS: readonly (readonly [number, number, number])[] = [
  [0x5c1, 0x621, 26],
  [0x5e0, 0x640, 19],
  [0xce0, 0x5d0, 27],
  [0xda1, 0xe01, 58],
  [0xddf, 0xe3f, 15],
  [0xdf0, 0xe50, 10],
]

let legacy: Map<number, string> | undefined

function legacyChars(): Map<number, string> {
  if (legacy) return legacy
  legacy = new Map()
  for (const [first, text] of LEGACY_BLOCKS) {
    for (const [i, char] of [...text].entries()) if (char !== " ") legacy.set(first + i, char)
  }
  for (const [first, code, count] of LEGACY_RUNS) {
    for (let i = 0; i < count; i++) legacy.set(first + i, String.fromCodePoint(code + i))
  }
  return legacy
}
