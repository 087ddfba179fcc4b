/// <reference path="../../packaging/licenses/text.d.ts" />
import * as v from "valibot"
import { type Context, defineCommand } from "../command.ts"
import { errorObject, PlainText } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { choice, flag } from "../schema/inputs.ts"
import { count, failed, optionalString } from "../schema/outputs.ts"
import { VERSION, versionFacts } from "../version.ts"

/** The program itself, and its access to the desktop. */

const permissionStates = () => {
  const grant = v.object({
    state: v.picklist(["granted", "denied", "not_required", "unknown"] as const),
    suggestion: optionalString(),
  })
  return v.objectWithRest(
    { granted: v.boolean(), accessibility: grant, screen_recording: grant, grant_to: optionalString() },
    v.union([v.boolean(), grant]),
  )
}

export const status = defineCommand({
  name: "status",
  summary: "Report the platform, the permissions and the current refs",
  group: "system",
  effect: "reads",
  tool: "all",
  trace: "line",
  input: {},
  output: () =>
    v.object({
      platform: v.string(),
      version: v.string(),
      permissions: v.union([permissionStates(), v.object({ granted: v.literal(false), error: failed() })]),
      ref_count: v.optional(count()),
      snapshot_id: optionalString(),
      session: optionalString(),
      desktop: optionalString(),
    }),
  print: "facts",
  sample: {},
  async run(_, ctx) {
    const map = await ctx.refs.load()
    return {
      platform: process.platform === "darwin" ? "macos" : process.platform,
      version: VERSION,
      permissions: await permissionsOrError(ctx),
      ...(map.snapshot_id === undefined ? {} : { ref_count: map.inner.size, snapshot_id: map.snapshot_id }),
      session: ctx.session,
      desktop: ctx.desktop,
    }
  },
})

/** A session without a desktop is a state to report, not an error of status. */
async function permissionsOrError(ctx: Context): Promise<object> {
  try {
    return await ctx.adapter.permissions(false)
  } catch (error) {
    if (error instanceof AppError) return { granted: false, error: errorObject(error) }
    throw error
  }
}

export const permissions = defineCommand({
  name: "permissions",
  summary: "Report which permissions are granted; ask for them only with --request",
  group: "system",
  effect: "reads",
  acts: (args) => args.request,
  tool: "all",
  trace: "line",
  input: { request: flag("Make the system ask the user for missing permissions") },
  output: permissionStates,
  print: "facts",
  sample: {},
  run: async (args, ctx) => ({ ...(await ctx.adapter.permissions(args.request)) }),
})

export const version = defineCommand({
  name: "version",
  summary: "Print the version and the target of this binary",
  group: "system",
  effect: "reads",
  tool: "all",
  trace: "line",
  input: {},
  output: () =>
    v.object({
      version: v.string(),
      target: v.string(),
      os: v.string(),
      arch: v.string(),
      bun: v.string(),
      commit: optionalString(),
    }),
  print: "facts",
  sample: {},
  run: async () => versionFacts(),
})

export const licenses = defineCommand({
  name: "licenses",
  summary: "Print the licenses of everything that this program contains",
  group: "system",
  effect: "reads",
  tool: "never",
  trace: "line",
  input: {},
  output: () => v.object({ text: v.string() }),
  print: ({ text }) => text,
  sample: {},
  run: async () =>
    new PlainText((await import("../../THIRD-PARTY-NOTICES.txt", { with: { type: "text" } })).default),
})

export const doctor = defineCommand({
  name: "doctor",
  summary: "Check every link between this program and the apps, and report what is missing",
  group: "system",
  effect: "reads",
  tool: "all",
  trace: "line",
  input: {
    ffi: flag("On macOS, also resolve every native symbol"),
    strict: flag("Fail if something is missing, for probes that read the exit code"),
    gnome_extension: v.optional(
      choice(
        ["install", "remove"],
        "Install or remove our GNOME Shell extension, which reports window positions",
      ),
    ),
  },
  acts: (args) => args.gnome_extension !== undefined,
  output: () =>
    v.object({
      healthy: v.boolean(),
      checks: v.array(
        v.object({
          name: v.string(),
          ok: v.boolean(),
          detail: optionalString(),
          suggestion: optionalString(),
        }),
      ),
    }),
  print: "facts",
  sample: {},
  examples: [
    "agent-desktop doctor",
    "agent-desktop --desktop main doctor --strict",
    "agent-desktop doctor --gnome-extension install",
  ],
  async run(args, ctx) {
    const checks = await ctx.adapter.diagnose({ ffi: args.ffi, gnomeExtension: args.gnome_extension })
    const missing = checks.filter((check) => !check.ok)
    if (args.strict && missing.length > 0) {
      throw new AppError(
        "PLATFORM_NOT_SUPPORTED",
        `Not healthy: ${missing.map(({ name }) => name).join(", ")}`,
        { suggestion: missing.find((check) => check.suggestion)?.suggestion, details: { checks: missing } },
      )
    }
    return { healthy: missing.length === 0, checks }
  },
})
