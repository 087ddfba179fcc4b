import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { snapshotText } from "../look/outline.ts"
import { observe, observeBelow } from "../look/snapshot.ts"
import { windowInFront } from "../look/windows.ts"
import { SURFACES } from "../node.ts"
import { REF_SYNTAX } from "../refmap.ts"
import {
  app,
  choice,
  flag,
  oneOf,
  optionalTarget,
  optionalText,
  snapshotId,
  whole,
  windowId,
} from "../schema/inputs.ts"
import { complete, count, described, node, optionalString } from "../schema/outputs.ts"

const LAST = "last"

export const snapshot = defineCommand({
  name: "snapshot",
  summary: "Read a window's accessibility tree and give every interactive element a ref",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: {
    app,
    window_id: windowId,
    max_depth: v.optional(
      whole("How deep to read; nameless wrapper groups do not count", 1, 50, { value: "N" }),
      10,
    ),
    include_bounds: flag("Print the bounds of every node, in screen pixels"),
    interactive_only: flag("Only elements that can be acted on, and their ancestors", { short: "i" }),
    compact: flag("Leave out nodes that are empty, decorative or repeat a name"),
    skeleton: flag("Only three levels; cut nodes have a ref for --root"),
    budget: v.optional(
      whole(
        "Print at most this many tokens; omitted nodes are counted and can be read with --root",
        1,
        1_000_000,
        {
          value: "TOKENS",
        },
      ),
    ),
    offscreen: flag("Also elements scrolled out of view, which are otherwise only counted"),
    include_hidden: flag("Also hidden nodes: closed menus, hidden pages"),
    surface: v.optional(choice(SURFACES, "Which surface of the app"), "window"),
    diff: optionalText("Only the differences from this snapshot; 'last', or no value, means the newest one", {
      value: "SNAPSHOT_ID",
      traced: true,
      optionalValue: LAST,
    }),
    root: optionalTarget("Only the subtree of this element; refs of others stay valid"),
    snapshot: snapshotId,
  },
  output: () =>
    v.object({
      app: v.string(),
      window: v.object({ id: v.string(), title: v.string() }),
      ref_count: count(),
      offscreen_count: described(v.optional(count()), "How many more elements with a ref --offscreen shows"),
      offscreen_at_least: described(v.optional(v.literal(true)), "There may be more than offscreen_count"),
      snapshot_id: optionalString(),
      since: described(optionalString(), "With --diff, the snapshot that this one was compared with"),
      complete: complete(),
      note: described(optionalString(), "If the tree is empty or may be outdated: how to work without it"),
      tree: v.optional(node()),
      changes: described(
        v.optional(
          v.object({
            added: described(v.optional(v.array(node())), "New nodes, with their new descendants"),
            removed: described(v.optional(v.array(node())), "Removed nodes, without their descendants"),
            changed: described(v.optional(v.array(node())), "Changed nodes as they are now"),
          }),
        ),
        "With --diff, in place of the tree",
      ),
    }),
  print: snapshotText,
  sample: [
    { app: "$app" },
    { window_id: "$window", interactive_only: true },
    { app: "$app", include_bounds: true, compact: true },
    { app: "$app", skeleton: true },
    { app: "$app", offscreen: true },
    { app: "$app", budget: 200 },
    { root: "$button" },
    { diff: "last" },
  ],
  examples: [
    "agent-desktop snapshot --app TextEdit -i",
    "agent-desktop snapshot --surface menu --app TextEdit",
    "agent-desktop snapshot --budget 800 --format text",
    "agent-desktop snapshot --skeleton",
    "agent-desktop snapshot --root @e12 -i",
    "agent-desktop snapshot --diff",
  ],
  check(args) {
    const isDescribed = args.root !== undefined && !REF_SYNTAX.test(args.root)
    if (!isDescribed) oneOf({ ...args, app: args.app ?? args.window_id }, ["root", "app"], 0)
    // A comparison reads the window as the earlier snapshot did, and all of it.
    for (const other of ["root", "skeleton", "budget"]) oneOf(args, ["diff", other], 0)
    if (args.snapshot !== undefined && args.root === undefined) {
      throw new AppError(
        "INVALID_ARGS",
        "--snapshot says which map --root REF is from, but there is no --root",
        {
          suggestion: "Add --root REF, or leave out --snapshot",
          details: { argument: "snapshot" },
        },
      )
    }
  },
  async run(args, ctx) {
    if (args.root !== undefined)
      return observeBelow(ctx, { ref_id: args.root, snapshot: args.snapshot }, args)
    if (args.diff === undefined) return observe(ctx, await windowInFront(ctx, args), args)
    const { observeSince } = await import("../look/compare.ts")
    return observeSince(ctx, { ...args, snapshot: args.diff === LAST ? undefined : args.diff }, args)
  },
})
