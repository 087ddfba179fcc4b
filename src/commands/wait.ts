import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { PREDICATES, waitFor } from "../look/wait.ts"
import {
  app,
  choice,
  fitInto,
  flag,
  oneOf,
  optionalTarget,
  optionalText,
  snapshotId,
  whole,
  windowId,
  words,
} from "../schema/inputs.ts"
import {
  count,
  gaps,
  match,
  notification,
  optionalString,
  refId,
  surface,
  windowInfo,
} from "../schema/outputs.ts"

export const wait = defineCommand({
  name: "wait",
  summary: "Wait for a time, an element, a window, a text, a menu or a notification",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  flow: "condition",
  awaitsNotification: ({ notification }) => notification === true,
  timeoutMs: 30_000,
  input: {
    ms: v.optional(whole("Just wait this many milliseconds", 0, 86_400_000, { position: 0, value: "MS" })),
    element: optionalTarget("Wait for this element", { aliases: ["ref_id"], target: "as given" }),
    predicate: v.optional(choice(PREDICATES, "Condition to wait for"), "exists"),
    value: optionalText("The value that --predicate value waits for", { value: "V" }),
    window: words("Wait for a window whose title contains this", { value: "TITLE", traced: true }),
    text: words("Wait for this text to show in the window", { value: "TEXT" }),
    gone: flag("Wait until the text, window or element is gone"),
    menu: flag("Wait for a menu to open"),
    menu_closed: flag("Wait for all menus to close"),
    notification: flag("Wait for a new notification; --text narrows it"),
    app,
    window_id: windowId,
    snapshot: snapshotId,
  },
  output: () =>
    v.object({
      found: v.literal(true),
      elapsed_ms: count(),
      element: v.optional(refId()),
      predicate: optionalString(),
      window: v.optional(windowInfo()),
      text: optionalString(),
      match: v.optional(match()),
      menu: v.optional(surface()),
      notification: v.optional(notification()),
      ...gaps(),
    }),
  print: "facts",
  sample: [{ ms: 0 }, { element: "$button" }, { window: "$title" }, { text: "$title", app: "$app" }],
  examples: [
    "agent-desktop wait --element @e5 --predicate enabled",
    'agent-desktop wait --text "Saved" --app TextEdit --timeout 5000',
  ],
  check(args) {
    const modes = ["ms", "element", "window", "text", "menu", "menu_closed", "notification"]
    oneOf({ ...args, text: args.notification ? undefined : args.text }, modes)
    if (args.ms !== undefined) fitInto(args.timeout_ms, args.ms, "MS")
    const compares = args.predicate === "value" && !args.gone
    if (compares !== (args.value !== undefined)) {
      throw new AppError(
        "INVALID_ARGS",
        compares ? "--predicate value needs --value" : "--value needs --predicate value",
        {
          suggestion: "agent-desktop wait --element @e3 --predicate value --value TEXT",
          details: { argument: "value" },
        },
      )
    }
    // Other modes would ignore these flags and wait for something else.
    if (args.predicate !== "exists" && args.element === undefined) throw onlyFor("--predicate", "--element")
    const canBeGone = args.element ?? args.window ?? (args.notification ? undefined : args.text)
    if (args.gone && canBeGone === undefined) throw onlyFor("--gone", "--element, --window or --text")
  },
  run: (args, ctx) => waitFor(ctx, args),
})

function onlyFor(flag: string, others: string): AppError {
  return new AppError("INVALID_ARGS", `${flag} goes with ${others} only`, {
    suggestion: `Leave out ${flag}, or add ${others}`,
  })
}
