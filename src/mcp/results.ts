// By their names: whatever takes the whole of valibot keeps all of it in every command's way.
import {
  array,
  boolean,
  description,
  type GenericSchema,
  integer,
  lazy,
  literal,
  minValue,
  nullable,
  number,
  type ObjectEntries,
  object,
  objectWithRest,
  optional,
  picklist,
  pipe,
  record,
  string,
  union,
  unknown,
} from "valibot"
import { ERROR_CODES } from "../errors.ts"
import { ACTION_NAMES, type Node, STATES, SURFACES } from "../node.ts"

/**
 * What each command returns as `data`. Members may be added in later versions, so readers must let
 * unknown ones pass.
 */
export type Result = GenericSchema

const described = <const S extends GenericSchema>(schema: S, text: string) => pipe(schema, description(text))
const count = pipe(number(), integer(), minValue(0))
const maybe = optional(string())
const states = optional(array(picklist(STATES)))

const point = object({ x: number(), y: number() })
const rect = object({ x: number(), y: number(), width: number(), height: number() })

const refId = described(string(), "Names the element in later commands, e.g. @e3")

const disposition = object({
  delivery: picklist([
    "not_delivered",
    "delivery_uncertain",
    "delivered_unverified",
    "delivered_verified",
  ] as const),
  retry: picklist(["safe", "unsafe", "unknown"] as const),
})

export const failed = object({
  code: picklist(ERROR_CODES),
  message: string(),
  suggestion: described(maybe, "What to do next"),
  platform_detail: described(maybe, "The operating system's own words"),
  details: optional(record(string(), unknown())),
  disposition: described(optional(disposition), "Whether anything reached the app, and whether to retry"),
})

/** Both forms of the one line that a command prints. */
export const envelope = union([
  object({ version: literal("1.0"), ok: literal(true), command: string(), data: object({}) }),
  object({ version: literal("1.0"), ok: literal(false), command: string(), error: failed }),
])

// The role stays a plain string: a list of all roles costs more tokens than it tells a model.
const node: GenericSchema<Omit<Node, "role" | "children">> = lazy(() => nodeObject)

/** What JSON Schemas refer to by a name: the nodes of a tree hold nodes. */
export const nodeObject = object({
  ref_id: optional(refId),
  role: string(),
  name: maybe,
  value: maybe,
  description: maybe,
  hint: maybe,
  states,
  bounds: optional(rect),
  characters_omitted: described(optional(count), "How much of its texts was left out"),
  children_count: described(optional(count), "How many children there are where not all are shown"),
  path: described(optional(array(string())), "In changes: what it is inside of, from the window down"),
  was: described(optional(record(string(), unknown())), "In changes: what was different"),
  children: optional(array(node)),
})

const windowInfo = object({
  id: string(),
  title: string(),
  app_name: string(),
  pid: count,
  bounds: optional(rect),
  is_focused: boolean(),
})

const match = object({
  ref_id: optional(refId),
  role: string(),
  name: maybe,
  value: maybe,
  states,
  interactive: boolean(),
  path: described(array(string()), "What it is inside of, from the window down"),
})

const surface = object({
  type: picklist(SURFACES),
  id: maybe,
  title: maybe,
  item_count: optional(count),
})

const notification = object({
  index: count,
  app_name: described(string(), "Empty where the daemon does not tell who sent it, as xfce4-notifyd"),
  title: string(),
  body: maybe,
  actions: optional(array(string())),
})

/** Described once, with snapshot: every tool that acts would repeat it. */
const changes = described(
  optional(record(string(), unknown())),
  "With --changes, as of snapshot --diff, and windows",
)

const action = <const N extends string>(name: N) => literal(name)

const acted = (name: string, more: ObjectEntries = {}) =>
  object({
    action: action(name),
    ref_id: refId,
    post_state: described(
      optional(object({ role: string(), states, value: maybe })),
      "How the element was afterwards, where that differs from before",
    ),
    method: described(string(), "How it was delivered"),
    disposition,
    changes,
    ...more,
  })

const pointed = (name: string, more: ObjectEntries = {}) =>
  object({ action: action(name), ...point.entries, ...more })

const operated = object({ window: windowInfo })
const text = object({ text: string() })

const grant = object({
  state: picklist(["granted", "denied", "not_required", "unknown"] as const),
  suggestion: maybe,
})
const permissions = objectWithRest(
  { granted: boolean(), accessibility: grant, screen_recording: grant },
  union([boolean(), grant]),
)

const desktop = object({
  name: string(),
  display: string(),
  size: string(),
  pid: count,
  env: record(string(), string()),
  broken: maybe,
})

const complete = described(optional(boolean()), "false: not everything could be read in time")

const itemResult = union([
  object({ command: string(), ok: literal(true), data: object({}) }),
  object({ command: string(), ok: literal(false), error: failed }),
])

const traced = object({
  time: string(),
  duration_ms: number(),
  pid: optional(count),
  door: described(maybe, "cli, batch, mcp or library"),
  session: maybe,
  desktop: maybe,
  command: string(),
  arguments: described(optional(unknown()), "Texts only by their length"),
  snapshot_id: maybe,
  ok: boolean(),
  data: optional(unknown()),
  error: optional(unknown()),
  before: described(maybe, "Picture, by its path in the directory"),
  after: maybe,
})

/** By the commands' names. */
export const results: Readonly<Record<string, Result>> = {
  snapshot: object({
    app: string(),
    window: object({ id: string(), title: string() }),
    ref_count: count,
    snapshot_id: maybe,
    since: described(maybe, "With --diff, the snapshot that this one was compared with"),
    complete,
    tree: optional(node),
    changes: described(
      optional(
        object({
          added: described(optional(array(node)), "New, with what is new below"),
          removed: described(optional(array(node)), "Gone, and what was below them with them"),
          changed: described(optional(array(node)), "As they are now"),
        }),
      ),
      "With --diff, in place of the tree",
    ),
  }),
  find: object({
    count: optional(count),
    match: described(optional(nullable(match)), "null: nothing matched"),
    matches: optional(array(match)),
    total_matches: optional(count),
    complete,
  }),
  get: object({
    property: string(),
    ref_id: refId,
    value: union([nullable(string()), array(union([picklist(ACTION_NAMES), string()])), rect]),
  }),
  is: object({
    property: string(),
    ref_id: refId,
    result: boolean(),
    applicable: described(boolean(), "false: the element has no such state"),
  }),
  screenshot: object({
    format: literal("png"),
    base64: maybe,
    path: maybe,
    width: count,
    height: count,
    snapshot_id: described(maybe, "With --annotate, the snapshot that the refs are of"),
  }),
  "list-surfaces": object({ pid: count, surfaces: array(surface) }),
  "list-windows": object({ windows: array(windowInfo) }),
  "list-apps": object({
    apps: array(object({ name: string(), pid: count, bundle_id: maybe })),
  }),
  "list-displays": object({
    displays: array(object({ id: string(), bounds: rect, is_primary: boolean(), scale: number() })),
  }),
  wait: object({
    found: literal(true),
    elapsed_ms: count,
    element: optional(refId),
    predicate: maybe,
    window: optional(windowInfo),
    text: maybe,
    match: optional(match),
    menu: optional(surface),
    notification: optional(notification),
  }),
  click: acted("click"),
  "double-click": acted("double-click"),
  "triple-click": acted("triple-click"),
  "right-click": acted("right-click", { menu: optional(node) }),
  clear: acted("clear"),
  focus: acted("focus"),
  toggle: acted("toggle"),
  check: acted("check"),
  uncheck: acted("uncheck"),
  expand: acted("expand"),
  collapse: acted("collapse"),
  "scroll-to": acted("scroll-to"),
  scroll: acted("scroll"),
  type: acted("type"),
  "set-value": acted("set-value"),
  select: acted("select"),
  press: object({ action: action("press"), changes }),
  "key-down": object({ action: action("key-down") }),
  "key-up": object({ action: action("key-up") }),
  hover: pointed("hover", { changes }),
  drag: object({ action: action("drag"), from: point, to: point, changes }),
  "mouse-move": pointed("mouse-move"),
  "mouse-click": pointed("mouse-click", { changes }),
  "mouse-down": pointed("mouse-down"),
  "mouse-up": pointed("mouse-up"),
  "mouse-wheel": pointed("mouse-wheel", { dx: number(), dy: number(), changes }),
  launch: windowInfo,
  "close-app": object({
    app: string(),
    closed: described(boolean(), "true: the process is gone"),
    method: string(),
    window: described(maybe, "Window that is still open, perhaps with a question"),
    title: maybe,
  }),
  "focus-window": object({ focused: windowInfo }),
  "resize-window": operated,
  "move-window": operated,
  minimize: operated,
  maximize: operated,
  restore: operated,
  "clipboard-get": text,
  "clipboard-set": object({ action: action("clipboard-set") }),
  "clipboard-clear": object({ action: action("clipboard-clear") }),
  "list-notifications": object({
    count,
    notifications: array(notification),
    unlisted: optional(described(count, "How many more the daemon shows without telling what they say")),
  }),
  "dismiss-notification": object({
    action: action("dismiss-notification"),
    index: count,
    app_name: string(),
    title: string(),
  }),
  "notification-action": object({
    action: action("notification-action"),
    index: count,
    title: string(),
    pressed: string(),
  }),
  "dismiss-all-notifications": object({ action: action("dismiss-all-notifications"), dismissed: count }),
  "desktop-start": desktop,
  "desktop-stop": object({ stopped: array(string()) }),
  "list-desktops": object({ desktops: array(desktop) }),
  batch: object({ results: array(itemResult) }),
  status: object({
    platform: string(),
    version: string(),
    permissions: union([permissions, object({ granted: literal(false), error: failed })]),
    ref_count: optional(count),
    snapshot_id: maybe,
    session: maybe,
    desktop: maybe,
  }),
  permissions,
  version: object({
    version: string(),
    target: string(),
    os: string(),
    arch: string(),
    bun: string(),
    commit: maybe,
  }),
  doctor: object({
    healthy: boolean(),
    checks: array(object({ name: string(), ok: boolean(), detail: maybe, suggestion: maybe })),
  }),
  completions: text,
  mcp: text,
  "mcp-config": object({
    client: string(),
    file: described(string(), "Where the client reads it"),
    text: described(string(), "What to add there"),
    command: described(maybe, "Does the same from a shell"),
  }),
  skills: object({
    skills: optional(array(object({ name: string(), description: string(), tokens: count }))),
    text: maybe,
  }),
  "trace-show": object({
    total: count,
    unreadable: described(optional(count), "Lines that are no entries"),
    entries: array(traced),
  }),
  "trace-export": object({ path: string(), entries: count, pictures: count, bytes: count }),
  schema: object({
    command: maybe,
    envelope: optional(object({})),
    error: optional(object({})),
    arguments: optional(object({})),
    result: optional(object({})),
    commands: optional(record(string(), object({ arguments: optional(object({})), result: object({}) }))),
  }),
}
