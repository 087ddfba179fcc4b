import * as v from "valibot"
import { type ActRequest, actOnRef, changing } from "../act/act.ts"
import { type Action, DIRECTIONS } from "../action.ts"
import { type Command, type Context, type Definition, defineCommand } from "../command.ts"
import { AppError, withDisposition } from "../errors.ts"
import type { Node } from "../node.ts"
import { FOCUSED } from "../refmap.ts"
import type { CliHints } from "../schema/fields.ts"
import {
  actInput,
  choice,
  flag,
  modifiers,
  oneOf,
  optionalText,
  secret,
  targetOrFocus,
  text,
  whole,
  words,
} from "../schema/inputs.ts"
import { actedAnywhere, actedOnRef, count, described, fieldFocus, node, refId } from "../schema/outputs.ts"

/** Verbs that act on the element of a ref. */

export const click = clicking("click", "Press the element once", {
  tool: "core",
  sample: [
    { ref_id: "$button" },
    { ref_id: "$button", input: "physical" },
    { ref_id: "$button", changes: true },
    { ref_id: "$button", modifiers: "ctrl,shift" },
  ],
  examples: [
    "agent-desktop click @e3",
    "agent-desktop click 'button \"Save\"'",
    "agent-desktop click '\"report.pdf\"' --modifiers ctrl",
  ],
})

export const doubleClick = clicking("double-click", "Press the element twice in quick succession", {
  tool: "core",
  sample: { ref_id: "$button" },
  examples: ["agent-desktop double-click @e3"],
})

export const tripleClick = verb("triple-click", "Press the element three times, e.g. to select a paragraph", {
  effect: "changes",
  tool: "all",
  sample: { ref_id: "$field" },
})

export const toggle = verb("toggle", "Flip a checkbox, switch or toggle button", {
  effect: "changes",
  leaves: "toggled",
  tool: "all",
  sample: { ref_id: "$checkbox" },
})

export const check = verb(
  "check",
  "Switch a checkbox, radio button or switch on; nothing happens if it is on",
  { effect: "changes", repeatable: true, leaves: "checked", tool: "core", sample: { ref_id: "$checkbox" } },
)

export const uncheck = verb("uncheck", "Switch a checkbox or switch off; nothing happens if it is off", {
  effect: "changes",
  repeatable: true,
  leaves: "unchecked",
  tool: "core",
  sample: { ref_id: "$checked" },
})

export const expand = verb("expand", "Open a tree item, combobox, menu button or disclosure", {
  effect: "harmless",
  repeatable: true,
  leaves: "expanded",
  tool: "all",
  sample: { ref_id: "$collapsed" },
})

export const collapse = verb("collapse", "Close a tree item, combobox, menu button or disclosure", {
  effect: "harmless",
  repeatable: true,
  leaves: "collapsed",
  tool: "all",
  sample: { ref_id: "$expanded" },
})

export const focus = verb("focus", "Give the element the keyboard focus", {
  effect: "harmless",
  repeatable: true,
  tool: "all",
  sample: { ref_id: "$field" },
})

export const clear = verb("clear", "Empty a text field", {
  effect: "changes",
  repeatable: true,
  leaves: "value",
  tool: "all",
  sample: { ref_id: "$field" },
})

export const scrollTo = verb("scroll-to", "Scroll until the element is in view", {
  effect: "harmless",
  repeatable: true,
  tool: "core",
  sample: { ref_id: "$button" },
})

export const rightClick = defineCommand({
  ...onRef("right-click"),
  summary: "Open the element's context menu and return it with refs",
  effect: "changes",
  tool: "core",
  input: actInput,
  output: () => actedOnRef("right-click", { menu: v.optional(node()) }),
  sample: { ref_id: "$button" },
  examples: ["agent-desktop right-click @e3"],
  run: (args, ctx) => changing(ctx, args, () => openMenu(ctx, { ...args, changes: false })),
})

async function openMenu(ctx: Context, choice: ActRequest): Promise<object> {
  const result = await actOnRef(ctx, choice, { kind: "right-click" })
  const { openedMenu } = await import("../look/surface.ts")
  try {
    const menu = (await openedMenu(ctx, choice)) ?? (await popupOver(ctx, choice))
    return menu
      ? { ...result, disposition: { delivery: "delivered_verified", retry: "unsafe" }, menu }
      : result
  } catch (error) {
    // The click was delivered, even if the menu could not be read.
    if (!(error instanceof AppError)) throw error
    throw withDisposition(error, result.disposition)
  }
}

/** A right click may open something other than a menu, or a menu that cannot be read. */
async function popupOver(ctx: Context, choice: ActRequest): Promise<Node | undefined> {
  const [{ lookUp }, { shownPopup }] = await Promise.all([
    import("../refs/resolve.ts"),
    import("../look/popup.ts"),
  ])
  const stored = await lookUp(ctx, choice)
  return (await ctx.adapter.popups(stored.entry.pid)) ? shownPopup(ctx, stored) : undefined
}

export const scroll = defineCommand({
  ...onRef("scroll"),
  summary: "Scroll the contents of an element",
  effect: "harmless",
  tool: "core",
  input: {
    ...actInput,
    direction: v.optional(choice(DIRECTIONS, "Direction", { position: 1 }), "down"),
    amount: v.optional(whole("Wheel steps", 1, 100, { position: 2, value: "N" }), 3),
    until: words("Instead of steps: scroll until a row shows this text", { value: "TEXT" }),
    exact: flag("With until: match the whole text and its case"),
  },
  output: () =>
    actedOnRef("scroll", {
      found: described(
        v.optional(
          v.object({ ref_id: v.optional(refId()), row: v.optional(count()), texts: v.array(v.string()) }),
        ),
        "With until: the row",
      ),
    }),
  sample: [{ ref_id: "$slider" }, { ref_id: "$cell", until: "a1" }],
  examples: [
    "agent-desktop scroll @e7 down 5",
    'agent-desktop scroll @e7 --until "Gina Moser" --timeout-ms 60000',
  ],
  run: async (args, ctx) => {
    const { direction, amount, until } = args
    if (until === undefined) return actOnRef(ctx, args, { kind: "scroll", direction, amount })
    const { scrollUntil } = await import("../act/until-row.ts")
    return changing(ctx, args, () => scrollUntil(ctx, args, { ...args, until }))
  },
})

export const select = defineCommand({
  ...onRef("select"),
  summary: "Choose an option of a combobox, list or tab list by name, or several if the list allows it",
  effect: "changes",
  repeatable: true,
  leaves: "value",
  tool: "core",
  input: {
    ...actInput,
    value: text("Name of the option, or the start of it", { position: 1, value: "VALUE", freeText: true }),
    more: v.optional(
      v.pipe(
        v.array(v.string()),
        v.maxLength(100),
        v.description("Further options, if the list allows several"),
        v.metadata({ cli: { position: 2, value: "VALUE", freeText: true } satisfies CliHints }),
      ),
    ),
    only: flag("In a list that takes several options, deselect the others; without it, add to them"),
  },
  sample: { ref_id: "$combobox", value: "two" },
  examples: ['agent-desktop select @e6 "Landscape"', 'agent-desktop select @e9 "News" "Music" --only'],
  run: async (args, ctx) => {
    const { value, more = [], only } = args
    if (more.length === 0) return actOnRef(ctx, args, { kind: "select", value, only })
    const { selectSeveral } = await import("../act/select-several.ts")
    return selectSeveral(ctx, args, [value, ...more], only)
  },
})

export const type = defineCommand({
  ...onRef("type"),
  summary: "Insert text at the caret of a text field and give it the focus; any Unicode, including newlines",
  effect: "changes",
  leaves: "value",
  tool: "core",
  input: {
    ...actInput,
    ref_id: targetOrFocus,
    text: optionalText("Text to insert, taken as it is", { position: 1, value: "TEXT", freeText: true }),
    secret,
  },
  sample: [
    { ref_id: "$field", text: "abc" },
    { ref_id: "$field", text: "abc", input: "physical" },
  ],
  examples: [
    'agent-desktop type @e5 "quarterly report"',
    "agent-desktop type @e5 -- --not-a-flag",
    "agent-desktop type @e2 --secret env:PASSWORD",
  ],
  output: () => actedAnywhere("type", fieldFocus()),
  check: (args) => oneOf(args, ["text", "secret"]),
  run: async ({ text = "", ...args }, ctx) => {
    const action: TypeAction =
      args.secret === undefined
        ? { kind: "type", text }
        : { kind: "type", text: await ctx.secret(args.secret), secret: true }
    if (args.ref_id !== FOCUSED) return actOnRef(ctx, args, action)
    const { typeAtFocus } = await import("../act/type-at-focus.ts")
    return typeAtFocus(ctx, args, action)
  },
})

type TypeAction = Extract<Action, { kind: "type" }>

export const setValue = defineCommand({
  ...onRef("set-value"),
  summary: "Replace the value of a text field, slider or spinner, and give it the focus",
  effect: "changes",
  repeatable: true,
  leaves: "value",
  tool: "core",
  input: {
    ...actInput,
    value: optionalText("The new value", { position: 1, value: "VALUE", freeText: true }),
    secret,
  },
  sample: { ref_id: "$field", value: "abc" },
  examples: ["agent-desktop set-value @e4 75", "agent-desktop set-value @e2 --secret env:PASSWORD"],
  output: () => actedOnRef("set-value", fieldFocus()),
  check: (args) => oneOf(args, ["value", "secret"]),
  run: async ({ value = "", ...args }, ctx) =>
    actOnRef(
      ctx,
      args,
      args.secret === undefined
        ? { kind: "set-value", value }
        : { kind: "set-value", value: await ctx.secret(args.secret), secret: true },
    ),
})

/** A click, which may have modifiers. */
function clicking(
  name: "click" | "double-click",
  summary: string,
  own: Pick<
    Definition<typeof actInput & { modifiers: typeof modifiers }, ReturnType<typeof actedOnRef>>,
    "tool" | "sample" | "examples"
  >,
): Command {
  return defineCommand({
    ...onRef(name),
    summary,
    effect: "changes",
    input: { ...actInput, modifiers },
    ...own,
    check(args) {
      if (args.modifiers !== undefined) refuseSemantic(args.input)
    },
    async run(args, ctx) {
      if (args.modifiers === undefined) return actOnRef(ctx, args, { kind: name })
      const { parseModifiers } = await import("../keys.ts")
      return actOnRef(ctx, args, { kind: name, modifiers: parseModifiers(args.modifiers) })
    },
  })
}

/** Modifiers need the pointer. */
function refuseSemantic(input: string): void {
  if (input !== "semantic") return
  throw new AppError("INVALID_ARGS", "--modifiers need the pointer, and --input is semantic", {
    suggestion: "Leave out one of them",
    details: { argument: "modifiers" },
  })
}

/** A verb whose only argument is the element. */
function verb(
  name:
    | "triple-click"
    | "toggle"
    | "check"
    | "uncheck"
    | "expand"
    | "collapse"
    | "focus"
    | "clear"
    | "scroll-to",
  summary: string,
  own: Pick<
    Definition<typeof actInput, ReturnType<typeof actedOnRef>>,
    "effect" | "repeatable" | "leaves" | "tool" | "sample"
  >,
): Command {
  return defineCommand({
    ...onRef(name),
    summary,
    input: actInput,
    examples: [`agent-desktop ${name} @e3`],
    ...own,
    run: (args, ctx) => actOnRef(ctx, args, { kind: name }),
  })
}

/** Members that all verbs of this file share. */
function onRef(name: string) {
  return {
    name,
    group: "act",
    trace: "pictures",
    output: () => actedOnRef(name, {}),
    print: async (data: object) => (await import("../look/outline.ts")).actedText(data),
  } as const
}
