// Named imports: `import *` would load all of valibot for every command.
import {
  array,
  boolean,
  description,
  type GenericSchema,
  integer,
  lazy,
  literal,
  minValue,
  number,
  type ObjectEntries,
  object,
  optional,
  picklist,
  pipe,
  record,
  string,
  unknown,
} from "valibot"
import { ERROR_CODES } from "../errors.ts"
import { type Node, STATES, SURFACES } from "../node.ts"

/**
 * Members of results that several commands share. All of them are functions: a command that runs builds no
 * schema of its result.
 */

export const described = <const S extends GenericSchema>(schema: S, text: string) =>
  pipe(schema, description(text))

export const count = () => pipe(number(), integer(), minValue(0))
export const optionalString = () => optional(string())
export const point = () => object({ x: number(), y: number() })
export const rect = () => object({ x: number(), y: number(), width: number(), height: number() })
export const refId = () => described(string(), "Names the element in later commands, e.g. @e3")
export const complete = () => described(optional(boolean()), "false: not everything could be read in time")
/** Members of a search that did not cover everything. */
export const gaps = () => ({
  complete: optional(boolean()),
  unsearched: described(
    optional(record(string(), unknown())),
    "Parts that were not searched, and the next step",
  ),
})
const valueLength = () => described(optional(count()), "Characters of the whole value, if it was cut")
const states = () => optional(array(picklist(STATES)))

export const disposition = () =>
  object({
    delivery: picklist([
      "not_delivered",
      "delivery_uncertain",
      "delivered_unverified",
      "delivered_verified",
    ] as const),
    retry: picklist(["safe", "unsafe", "unknown"] as const),
  })

/** `error` of a command that failed. */
export const failed = () =>
  object({
    code: picklist(ERROR_CODES),
    message: string(),
    suggestion: described(optionalString(), "The next step"),
    platform_detail: described(optionalString(), "The operating system's own words"),
    details: optional(record(string(), unknown())),
    disposition: described(optional(disposition()), "If the action reached the app, and if a retry is safe"),
  })

/**
 * A node of a result. The role is any string: a list of all roles would cost more tokens than it is worth to a model.
 */
export interface PrintedNode extends Omit<Node, "role" | "children"> {
  readonly role: string
  readonly children?: readonly PrintedNode[]
}

/** A node and the nodes below it. */
export const node = (): GenericSchema<PrintedNode> => lazy(nodeObject)

/** The schema that JSON Schemas refer to as `node`; always the same object, or they could not refer to it. */
export const nodeObject = () => (madeNode ??= makeNode())
let madeNode: ReturnType<typeof makeNode> | undefined

const inferred = () => described(optional(literal(true)), "The name is a label beside or above it")

/** The first members of a node and of a match. */
const identified = () => ({
  ref_id: optional(refId()),
  role: string(),
  name: optionalString(),
  name_inferred: inferred(),
  value: optionalString(),
  value_length: valueLength(),
})

const makeNode = () =>
  object({
    ...identified(),
    description: optionalString(),
    hint: optionalString(),
    states: states(),
    bounds: optional(rect()),
    characters_omitted: described(optional(count()), "Number of characters left out of its texts"),
    children_count: described(optional(count()), "Number of children, if not all are shown"),
    empty_cells: described(optional(count()), "Number of empty cells left out"),
    offscreen: described(
      optional(
        object({
          above: optional(count()),
          below: optional(count()),
          left: optional(count()),
          right: optional(count()),
          at_least: optional(literal(true)),
        }),
      ),
      "Number of elements in it that are scrolled out of view, by side",
    ),
    path: described(optional(array(string())), "In changes: names of its ancestors, from the window down"),
    was: described(optional(record(string(), unknown())), "In changes: earlier values of changed members"),
    children: optional(array(node())),
  })

export const windowInfo = () =>
  object({
    id: string(),
    title: string(),
    app_name: string(),
    pid: count(),
    bounds: optional(rect()),
    is_focused: boolean(),
  })

export const match = () =>
  object({
    ...identified(),
    states: states(),
    interactive: boolean(),
    path: described(array(string()), "Names of its ancestors, from the window down"),
  })

export const surface = () =>
  object({
    type: picklist(SURFACES),
    id: optionalString(),
    title: optionalString(),
    item_count: optional(count()),
  })

export const notification = () =>
  object({
    index: count(),
    app_name: described(string(), "Empty if the daemon does not report it, such as xfce4-notifyd"),
    title: string(),
    body: optionalString(),
    actions: optional(array(string())),
  })

/** Result of `--changes`. Its members are described once, with snapshot: every tool that acts would repeat them. */
export const changes = () =>
  described(optional(record(string(), unknown())), "With --changes: as in snapshot --diff, plus windows")

/** Result of a command that acts, with the members beside its name. */
export const acted = <const E extends ObjectEntries>(name: string, more: E) =>
  object({ action: literal(name), ...more })

/** The element that a command acted on. */
export const element = () =>
  described(object({ role: string(), name: optionalString() }), "The element that was acted on")

/** Members of the results of commands that leave the focus in their field. */
export const fieldFocus = () => ({
  focused: described(optional(boolean()), "If keys go to it now"),
  focus_reason: optionalString(),
})

/** Members of the result of a command whose element was described. */
export const place = () => ({
  window: described(
    optional(object({ id: string(), title: string(), app_name: string() })),
    "The window that was searched for a description",
  ),
  unsearched: optional(record(string(), unknown())),
})

/** Result of a command that acts on an element. */
export const actedOnRef = <const E extends ObjectEntries>(name: string, more: E) =>
  acted(name, { ref_id: refId(), element: element(), ...actedMembers(), ...more })

/** The same for a command that also works in a window without a known element. */
export const actedAnywhere = <const E extends ObjectEntries>(name: string, more: E) =>
  acted(name, { ref_id: optional(refId()), element: optional(element()), ...actedMembers(), ...more })

const actedMembers = () => ({
  post_state: described(
    optional(object({ role: string(), states: states(), value: optionalString() })),
    "State of the element afterwards, if it changed",
  ),
  method: described(string(), "How it was delivered"),
  already: described(optional(literal(true)), "Nothing had to be sent"),
  app_ended: described(optional(literal(true)), "The app ended because of it"),
  disposition: disposition(),
  doubt: described(optionalString(), "Why it is not verified"),
  popup: described(optional(node()), "The menu, list or dialog that it opened, with refs"),
  ...place(),
  changes: changes(),
})
