import { type Context, defineCommand } from "../command.ts"
import { errorObject } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { VERSION } from "../version.ts"

export default defineCommand({
  name: "status",
  summary: "Tell the platform, the permissions and the current refs",
  group: "system",
  readOnly: true,
  input: {},
  async run(_, ctx) {
    const map = await ctx.refs.load()
    return {
      platform: process.platform === "darwin" ? "macos" : process.platform,
      version: VERSION,
      permissions: await permissions(ctx),
      ...(map.snapshot_id === undefined ? {} : { ref_count: map.inner.size, snapshot_id: map.snapshot_id }),
      session: ctx.session,
      desktop: ctx.desktop,
    }
  },
})

/** A session without a desktop is a state to report, not a failure to report it. */
async function permissions(ctx: Context): Promise<object> {
  try {
    return await ctx.adapter.permissions(false)
  } catch (error) {
    if (error instanceof AppError) return { granted: false, error: errorObject(error) }
    throw error
  }
}
