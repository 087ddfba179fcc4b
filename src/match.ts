import { AppError, NOTHING_DELIVERED } from "./errors.ts"
import { allRoles, hasTrait, isRole, type Role, type State } from "./node.ts"
import { nameAndValue, type Position, wordsOf } from "./tree.ts"

export interface Query {
  readonly role?: Role
  readonly name?: string
  readonly value?: string
  readonly text?: string
  readonly state?: State
  /** Compare whole strings and case, instead of parts in any case. */
  readonly exact?: boolean
}

/** Other tools' words for our roles. */
const ROLE_ALIASES: Readonly<Record<string, Role>> = {
  gridcell: "cell",
  img: "image",
  radio: "radiobutton",
  searchbox: "textfield",
  searchfield: "textfield",
  textarea: "textfield",
  textbox: "textfield",
  input: "textfield",
  spinbutton: "incrementor",
  togglebutton: "button",
  tree: "outline",
  listitem: "option",
  popupbutton: "combobox",
}

/** The role that an argument means, in any case and spelling. Throws INVALID_ARGS if there is none. */
export function canonicalRole(role: string): Role {
  const word = role.toLowerCase().replaceAll(/[\s_-]/g, "")
  const canonical = ROLE_ALIASES[word] ?? word
  if (isRole(canonical)) return canonical
  const interactive = allRoles().filter((one) => hasTrait(one, "interactive"))
  throw new AppError("INVALID_ARGS", `--role '${role}' is not a role`, {
    suggestion: `Use one of: ${interactive.join(", ")}; or a structural one such as group, statictext, row`,
    details: { argument: "role" },
  })
}

export function matches({ node }: Position, query: Query): boolean {
  const fits = (have: string | undefined, want: string): boolean =>
    have !== undefined && (query.exact ? have === want : have.toLowerCase().includes(want.toLowerCase()))
  return (
    (query.role === undefined || node.role === query.role) &&
    (query.state === undefined || node.states.includes(query.state)) &&
    (query.name === undefined || fits(wordsOf(node) ?? node.inferredName, query.name)) &&
    (query.value === undefined || fits(nameAndValue(node).value, query.value)) &&
    (query.text === undefined ||
      [node.name ?? node.inferredName, node.value, node.description].some((have) => fits(have, query.text!)))
  )
}

/** The names of the ancestors that have one, from the window down. */
export function pathOf({ ancestors }: Position): string[] {
  return ancestors.flatMap((node) => wordsOf(node) ?? [])
}

/** Compares whole names in any case: 'Doc' is not 'Docker'. */
export function isNamed(name: string, aliases: readonly string[], wanted: string): boolean {
  const key = wanted.toLowerCase()
  return key !== "" && (name.toLowerCase() === key || aliases.some((alias) => alias.toLowerCase() === key))
}

/**
 * The option with this name, or else the only one whose name starts with it. Throws if none or several match. `ref`
 * names the element that shows the options.
 */
export function chooseByName<T extends { readonly name?: string }>(
  options: readonly T[],
  name: string,
  ref?: string,
): T {
  const exact = options.filter((option) => option.name === name)
  const starting = name === "" ? [] : options.filter((option) => option.name?.startsWith(name))
  const [only, ...others] = exact.length > 0 ? exact : starting
  if (only && others.length === 0) return only
  const names = options.flatMap((option) => option.name ?? [])
  const look = ref ? `Run 'expand ${ref}' and 'snapshot'` : "Open the list and run 'snapshot'"
  const facts = { details: { candidates: names.slice(0, 50) }, disposition: NOTHING_DELIVERED }
  if (only)
    throw new AppError(
      "AMBIGUOUS_TARGET",
      `${others.length + 1} options${ref ? ` of ${ref}` : ""} ${exact.length > 0 ? "are named" : "start with"} '${name}'`,
      {
        suggestion:
          exact.length > 0
            ? `${look}, then click the option by its own ref`
            : "Use a whole name of details.candidates",
        ...facts,
      },
    )
  throw new AppError("ELEMENT_NOT_FOUND", `${ref ? `${ref} shows` : "There is"} no option '${name}'`, {
    suggestion:
      names.length > 0
        ? "Use one of details.candidates"
        : `${look} to see its options, or use 'set-value' if it can be typed into`,
    ...facts,
  })
}

/** The option was selected, but the other options are wrong: not kept, or with `--only` not deselected. */
export function restChanged(
  option: string,
  wanted: readonly string[],
  observed: readonly string[],
): AppError {
  return new AppError(
    "ACTION_FAILED",
    `'${option}' was selected, but the other options are not as requested`,
    {
      suggestion: "Run 'snapshot' to see what is selected now, then 'select' or 'click' what is missing",
      details: { kind: "selection", wanted, observed },
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    },
  )
}
