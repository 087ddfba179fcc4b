import * as v from "valibot"
import { type Context, defineCommand, type ItemResult } from "../command.ts"
import type { ErrorObject } from "../envelope.ts"
import { AppError, type ErrorCode } from "../errors.ts"
import type { CliHints } from "../schema/fields.ts"
import { flag } from "../schema/inputs.ts"
import { count, described, failed } from "../schema/outputs.ts"

const MOST_ITEMS = 256
const MOST_BYTES = 1_048_576

export const batch = defineCommand({
  name: "batch",
  summary: "Run several commands in order, from JSON",
  group: "system",
  // The widest effect that an item can have. A read-only policy judges each item.
  effect: "changes",
  delegates: true,
  tool: "core",
  trace: "line",
  timeoutMs: 300_000,
  input: {
    commands: v.pipe(
      v.union([v.string(), v.array(v.looseObject({}))]),
      v.description('Array of {"command", "args"}; as text it is JSON, or - for standard input'),
      v.metadata({
        cli: { position: 0, value: "JSON", freeText: true, holdsCommands: true } satisfies CliHints,
      }),
    ),
    stop_on_error: flag("Stop at the first command that fails, and fail"),
  },
  output: () =>
    v.object({
      failed: described(v.optional(count()), "How many items failed, if any did"),
      results: v.array(
        v.union([
          v.object({ command: v.string(), ok: v.literal(true), data: v.object({}) }),
          v.object({ command: v.string(), ok: v.literal(false), error: failed() }),
        ]),
      ),
    }),
  print: async ({ results }, commands) => (await import("../look/text.ts")).itemsText(results, commands),
  sample: {
    commands: `[{"command":"version"},{"command":"click","args":{"ref_id":"$button"}},{"command":"click","args":{"ref_id":"@e99"}}]`,
  },
  examples: [`agent-desktop batch '[{"command":"click","args":{"ref_id":"\\"Save\\""}}]' --stop-on-error`],
  async run(args, ctx) {
    const items = parse(args.commands === "-" ? await ctx.stdin() : asText(args.commands))
    await ctx.validateItems(items)
    await ctx.rememberNotifications(items)
    const results: ItemResult[] = []
    for (const item of items) {
      const result = await ctx.runItem(item.command, item.args)
      results.push(result)
      if (!result.ok && args.stop_on_error) throw stopped(results, result)
    }
    const failures = results.filter(({ ok }) => !ok).length
    return { ...(failures > 0 ? { failed: failures } : {}), results }
  },
})

/** The failure of an item, as the failure of the batch. */
function stopped(results: readonly ItemResult[], { command, error }: FailedItem): AppError {
  // The error of an item is the object that an envelope would hold.
  const { code, message, suggestion, platform_detail, details, disposition } = error as ErrorObject
  const index = results.length - 1
  return new AppError(code as ErrorCode, `Item ${index} (${command}) failed: ${message}`, {
    suggestion,
    platformDetail: platform_detail,
    details: { ...details, index, results },
    disposition,
  })
}

type FailedItem = Extract<ItemResult, { ok: false }>

// valibot's record accepts an empty array as an empty object.
const Args = v.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
)

const Items = v.pipe(
  v.array(v.strictObject({ command: v.string(), args: v.optional(Args, {}) })),
  v.maxLength(MOST_ITEMS),
)

/** The size limit counts bytes of text, even for a list. */
const asText = (commands: string | readonly object[]): string =>
  typeof commands === "string" ? commands : JSON.stringify(commands)

function parse(json: string): Parameters<Context["validateItems"]>[0] {
  if (Buffer.byteLength(json) > MOST_BYTES) throw bad(`The batch is larger than ${MOST_BYTES} bytes`)
  const parsed = v.safeParse(Items, parseJson(json))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const where = v.getDotPath(issue)
  throw bad(`The batch is not valid${where ? ` at ${where}` : ""}: ${issue.message}`)
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw bad(`The batch is not valid JSON: ${error instanceof Error ? error.message : error}`)
  }
}

function bad(message: string): AppError {
  return new AppError("INVALID_ARGS", message, {
    suggestion: `Pass at most ${MOST_ITEMS} items such as [{"command":"click","args":{"ref_id":"@e2"}}]`,
    details: { argument: "commands" },
  })
}
