import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Context } from "../command.ts"
import { type ErrorObject, toJson } from "../envelope.ts"

/**
 * Writes the error, the screen and the snapshot of this moment into a directory, and returns its path. Without a name the
 * directory is a new one; where only reading is allowed, nothing is written then.
 */
export async function keepEvidence(
  ctx: Context,
  error: ErrorObject,
  directory: string | undefined,
): Promise<string | undefined> {
  if (directory === undefined && ctx.readOnly) return undefined
  try {
    if (directory !== undefined) mkdirSync(directory, { recursive: true })
    const folder = directory ?? mkdtempSync(join(tmpdir(), "agent-desktop-replay-"))
    await ctx.writeFile(join(folder, "error.json"), Buffer.from(`${toJson(error)}\n`))
    await ctx.runItem("screenshot", { path: join(folder, "screen.png") })
    const seen = await ctx.runItem("snapshot", {})
    const print = (await ctx.commands.snapshot?.())?.print
    const outline =
      seen.ok && typeof print === "function" ? await print(seen.data as never, ctx.commands) : undefined
    if (outline !== undefined) await ctx.writeFile(join(folder, "snapshot.txt"), Buffer.from(outline))
    return folder
  } catch (failure) {
    // The failure of the flow matters more than one of the disk.
    if (failure instanceof Error) return undefined
    throw failure
  }
}
