import { AppError } from "../errors.ts"
import { canonicalRole } from "../match.ts"
import { nearest } from "../nearest.ts"
import { allRoles, hasTrait, type Role } from "../node.ts"
import { REF_SYNTAX } from "../refmap.ts"
import { quoted } from "../shown-text.ts"

/**
 * Targets: how a caller names an element. A ref, the focus, or a description as the text outline prints it: `button
 * "Save"`, `"Save"`, `button "Delete" in "Gina Moser"`, `button "OK" nth 2`.
 */

/** A role, a name, or both. */
export interface Wanted {
  readonly role?: Role
  readonly name?: string
}

export interface Description extends Wanted {
  /** The containers around it, the nearest first. */
  readonly within: readonly Wanted[]
  /** The number of the wanted match among several, from 1, in document order. */
  readonly nth?: number
}

const isRef = (target: string): boolean => REF_SYNTAX.test(target)

/** Parses a description. Throws an INVALID_ARGS that names the position of the mistake. */
export function parseDescription(text: string): Description {
  const line = new Line(text)
  const wanted = line.wanted("a role or a name in quotes")
  const within: Wanted[] = []
  let nth: number | undefined
  while (!line.isAtEnd) {
    const at = line.at
    const word = line.word()
    if (word === "in") within.push(line.wanted("the name of what it is in"))
    else if (word === "nth" && nth === undefined) nth = line.number()
    else throw line.unexpected(at)
  }
  return { ...wanted, within, ...(nth === undefined ? {} : { nth }) }
}

/** Writes a description. `parseDescription` reads it back. */
export function descriptionText({ within, nth, ...own }: Description): string {
  const places = within.map((wanted) => `in ${wantedText(wanted)}`)
  return [wantedText(own), ...places, ...(nth === undefined ? [] : [`nth ${nth}`])].join(" ")
}

const wantedText = ({ role, name }: Wanted): string =>
  [role, name === undefined ? undefined : quoted(name)].filter((word) => word !== undefined).join(" ")

/**
 * True if both names are the same: whole, in any case. Mnemonic marks, a colon or an ellipsis at the end and the width of
 * blanks do not count, nor does a shortcut behind the name. `Print` finds the button `Print (Ctrl+P)`, and `Name` finds a
 * field labelled `Name:`.
 */
export function isSameName(role: Role, have: string, want: string): boolean {
  if (have === want) return true
  const wanted = plainName(role, want)
  // Some apps write the shortcut after the name. Only in a menu is it clear without parentheses what it is.
  const shortcut = role === "menuitem" ? SHORTCUT : mayHaveMark(role) ? IN_PARENTHESES : undefined
  return (
    plainName(role, have) === wanted ||
    (shortcut !== undefined && plainName(role, have.replace(shortcut, "")) === wanted)
  )
}

function plainName(role: Role, name: string): string {
  const words = name.normalize("NFC").replaceAll(/\s+/g, " ").trim().toLowerCase()
  const whole = words.replace(/\.\.\.$/, "…").replace(/(?<=.)\s*…$/, "")
  // File names and links may really contain such characters.
  return mayHaveMark(role) ? whole.replace(/[_&](?=[\p{L}\p{N}])/u, "").replace(/(?<=.)\s*[:：]$/, "") : whole
}

const SHORTCUT = /(?<=.)\s+\(?(?:(?:ctrl|shift|alt|super|meta)\+)+\S+$/i
const IN_PARENTHESES = /(?<=.)\s+\((?:(?:ctrl|shift|alt|super|meta)\+)+\S+\)$/i

const mayHaveMark = (role: Role): boolean =>
  !hasTrait(role, "item") && !hasTrait(role, "surface") && role !== "link" && role !== "heading"

/** The text of a target, and how far it has been read. */
class Line {
  readonly #text: string
  at = 0

  constructor(text: string) {
    this.#text = text
    this.#skip()
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length
  }

  /** A role, a name, or both. `meant` completes the error: "is missing". */
  wanted(meant: string): Wanted {
    if (this.isAtEnd) throw this.#wrong(`${meant} is missing`, this.at)
    const start = this.at
    const role = this.#text[this.at] === '"' ? undefined : this.#role()
    const name = this.#text[this.at] === '"' ? this.#string() : undefined
    if (name === "") throw this.#wrong("the name is empty", start)
    return { ...(role === undefined ? {} : { role }), ...(name === undefined ? {} : { name }) }
  }

  word(): string {
    const [word = ""] = /^[^\s"]*/.exec(this.#text.slice(this.at)) ?? []
    this.at += word.length
    this.#skip()
    return word
  }

  number(): number {
    const at = this.at
    const word = this.word()
    if (/^[1-9][0-9]{0,5}$/.test(word)) return Number(word)
    throw this.#wrong("nth needs a number from 1", at)
  }

  unexpected(at: number): AppError {
    const rest = this.#text.slice(at)
    const ref = /^\[?(@?[\w:-]*e[1-9][0-9]*)\]?/.exec(rest)?.[1]
    if (ref !== undefined && isRef(ref)) return this.#wrong(`${ref} is a ref, which stands alone`, at, ref)
    if (rest.startsWith('"')) return this.#wrong("a second name; 'in' is missing before it?", at)
    const [word = ""] = /^\S+/.exec(rest) ?? []
    return this.#wrong(`'${word.slice(0, 40)}' is neither 'in' nor 'nth'`, at)
  }

  #role(): Role {
    const at = this.at
    const word = this.word()
    try {
      if (word !== "in" && word !== "nth") return canonicalRole(word)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
    const near = nearest(word, allRoles())
    const role = near === undefined ? "" : `, did you mean ${near}?`
    throw this.#wrong(`'${word.slice(0, 40)}' is not a role${role}; a name is written in quotes`, at)
  }

  #string(): string {
    const start = this.at
    const token = /^"(?:[^"\\]|\\.)*"/s.exec(this.#text.slice(start))?.[0]
    if (token === undefined) throw this.#wrong("the quote that ends this name is missing", start)
    this.at += token.length
    // The outline marks a name that was taken from a label beside the element.
    if (this.#text[this.at] === "?") this.at += 1
    const end = this.#text[this.at]
    if (end !== undefined && !/\s/.test(end)) throw this.#wrong("a space is missing after the name", this.at)
    this.#skip()
    try {
      return JSON.parse(token.replaceAll(/[\x00-\x1f]/g, codeOf))
    } catch {
      throw this.#wrong('a backslash in this name; write \\\\ for it, and \\" for a quote', start)
    }
  }

  #skip(): void {
    this.at += /^\s*/.exec(this.#text.slice(this.at))?.[0].length ?? 0
  }

  #wrong(why: string, at: number, ref?: string): AppError {
    const shown = this.#text.length > 80 ? `${this.#text.slice(0, 77)}...` : this.#text
    return new AppError("INVALID_ARGS", `${why}, at character ${at + 1} of ${quoted(shown)}`, {
      suggestion: ref
        ? `Give the ref alone: ${ref}`
        : 'Write a ref such as @e3, or a role and a name as the outline prints them: \'button "Save"\', \'"Save"\', \'button "Delete" in "Gina Moser"\', \'button "OK" nth 2\'; or @focused',
      details: { kind: "target", at: at + 1 },
    })
  }
}

const codeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
