import * as v from "valibot"
import { type Command, type Definition, defineCommand, type Registry } from "../../src/command.ts"
import type { CliHints } from "../../src/schema/fields.ts"

const hints = <T>(cli: CliHints) => v.metadata<T, { readonly cli: CliHints }>({ cli })
const flag = (description: string, cli: CliHints = {}) =>
  v.optional(v.pipe(v.boolean(), v.description(description), hints(cli)))
const ref = v.pipe(v.string(), v.description("Ref of the element"), hints({ position: 0, value: "REF" }))

/** A command for tests that need only its arguments. */
export const taking = <E extends v.ObjectEntries>(
  own: Pick<
    Definition<E, v.GenericSchema>,
    "name" | "summary" | "group" | "input" | "examples" | "timeoutMs"
  >,
): Command =>
  defineCommand({
    effect: "changes",
    tool: "never",
    trace: "line",
    output: () => v.object({}),
    print: "json",
    sample: [],
    run: async () => ({}),
    ...own,
  })

export const registryOf = (commands: readonly Command[]): Registry =>
  Object.fromEntries(commands.map((command) => [command.name, async () => command]))

/** Global options, similar to those of the program. */
export const globals = v.strictObject({
  session: v.optional(v.pipe(v.string(), v.description("Namespace of refs"), hints({ value: "NAME" }))),
  format: v.optional(
    v.pipe(v.picklist(["json", "text"]), v.description("How the result is written")),
    "json",
  ),
  verbose: flag("Log more", { short: "v" }),
  read_only: flag("Change nothing"),
  help: flag("Show help", { short: "h" }),
  version: flag("Show the version", { short: "V" }),
})

export const click = taking({
  name: "click",
  summary: "Click an element",
  group: "act",
  examples: ["agent-desktop click @e3"],
  input: { ref_id: ref, snapshot: v.optional(v.string()), changes: v.optional(v.boolean(), true) },
})

export const type = taking({
  name: "type",
  summary: "Type text into an element",
  group: "act",
  input: {
    ref_id: ref,
    text: v.pipe(v.string(), v.maxLength(1000), hints({ position: 1, freeText: true })),
    changes: flag("Report the difference"),
  },
})

export const snapshot = taking({
  name: "snapshot",
  summary: "Read a window's accessibility tree",
  group: "observe",
  input: {
    app: v.optional(
      v.pipe(v.string(), v.description("Name of the app"), hints({ short: "a", value: "NAME" })),
    ),
    window_id: v.optional(v.pipe(v.string(), v.regex(/^w-\d+$/))),
    max_depth: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50)), 10),
    include_bounds: flag("With bounds"),
    interactive_only: flag("Only what can be acted on", { short: "i" }),
    compact: flag("Without wrappers", { short: "c" }),
    surface: v.optional(
      v.pipe(
        v.picklist(["window", "focused", "menu", "menubar", "sheet", "popover", "alert"]),
        v.description("Which surface of the app to read"),
      ),
      "window",
    ),
    diff: v.optional(v.pipe(v.string(), hints({ value: "SNAPSHOT_ID", optionalValue: "last" }))),
  },
})

export const moveWindow = taking({
  name: "move-window",
  summary: "Move a window",
  group: "window",
  input: {
    window_id: v.optional(v.pipe(v.string(), hints({ position: 0, value: "ID" }))),
    x: v.optional(v.pipe(v.number(), hints({ position: 1 }))),
    y: v.optional(v.pipe(v.number(), hints({ position: 2 }))),
  },
})

export const mouseMove = taking({
  name: "mouse-move",
  summary: "Move the pointer",
  group: "input",
  input: {
    xy: v.pipe(
      v.string(),
      v.regex(/^-?\d+,-?\d+$/, "must be X,Y"),
      v.transform((text) => text.split(",").map(Number)),
      hints({ value: "X,Y" }),
    ),
    button: v.optional(v.picklist(["left", "right", "middle"]), "left"),
    duration_ms: v.optional(v.pipe(v.number(), hints({ aliases: ["duration"], value: "MS" }))),
  },
})

export const launch = taking({
  name: "launch",
  summary: "Start an app",
  group: "window",
  timeoutMs: 30_000,
  input: {
    app: v.pipe(v.string(), hints({ position: 0 })),
    arg: v.optional(v.pipe(v.array(v.string()), hints({ value: "A", freeText: true }))),
    level: v.optional(v.array(v.picklist(["low", "high"]))),
    env: v.optional(v.record(v.string(), v.string())),
  },
})

export const clipboardSet = taking({
  name: "clipboard-set",
  summary: "Put text on the clipboard",
  group: "clipboard",
  input: { text: v.pipe(v.string(), hints({ position: 0, freeText: true })) },
})

export const open = taking({
  name: "open",
  summary: "Open files",
  group: "system",
  input: { path: v.pipe(v.array(v.string()), hints({ position: 0 })), wait: flag("Wait until closed") },
})

export const commands: readonly Command[] = [
  click,
  type,
  snapshot,
  moveWindow,
  mouseMove,
  launch,
  clipboardSet,
  open,
]

export const registry = registryOf(commands)
