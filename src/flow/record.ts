import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from "node:fs"
import { resolve } from "node:path"
import type { RecordedStep, Recording } from "../door.ts"
import { AppError } from "../errors.ts"
import { escapeHidden } from "../shown-text.ts"
import { expectedAfter } from "./expected.ts"
import { isRecorded, type Plan, planOf } from "./plan.ts"
import { NOT_RECORDED } from "./read.ts"
import { lineOf } from "./words.ts"

export interface RecordOptions {
  readonly file: string
  /** Called for a step that could not be written as a line, and once if nothing can be written. */
  warn(message: string): void
}

/** Time limit for the look before a command, and for the one after it. A step without a look becomes a comment. */
const LOOK_MS = 15_000

/**
 * Appends successful commands to a flow, with descriptions in place of refs. A failed write never changes what a
 * command does.
 */
export function openRecording({ file, warn }: RecordOptions): Recording {
  const path = resolve(file)
  let spentMs = 0
  let isFailureReported = false
  const timed = async <T>(work: () => Promise<T | undefined>): Promise<T | undefined> => {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!isFailureReported) warn(`The flow ${path} is not complete: ${messageOf(error)}`)
      isFailureReported = true
      return undefined
    } finally {
      spentMs += performance.now() - start
    }
  }
  const write = async (step: RecordedStep, plan: Plan, data: object): Promise<void> => {
    const { reason, lines } = await linesOf(step, plan, data)
    if (reason !== undefined) warn(`${step.command.name} is only a comment in ${path}: ${reason}`)
    if (lines.length > 0) append(path, `${lines.join("\n")}\n`)
  }
  return {
    get spentMs() {
      return spentMs
    },
    before: (step) =>
      timed(async () => {
        if (!isRecorded(step)) return undefined
        const plan = await step.look(LOOK_MS, (ctx) => planned(step, planOf(ctx, step)))
        return async (data) => {
          await timed(() => write(step, plan, data))
        }
      }),
  }
}

/** The plan. If the desktop could not be read: a plan for a comment. */
async function planned({ args }: RecordedStep, plan: Promise<Plan>): Promise<Plan> {
  try {
    return await plan
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { args, reason: error.message, about: "an element", isSecure: false, guards: [], before: [] }
  }
}

interface Lines {
  readonly lines: readonly string[]
  /** The reason why the step is only a comment. */
  readonly reason?: string
}

async function linesOf(step: RecordedStep, plan: Plan, data: object): Promise<Lines> {
  const { words, expected } = await step.look(LOOK_MS, (ctx) => expectedAfter(ctx, step, plan, data))
  if (plan.reason !== undefined) return comment(step, plan, plan.reason)
  if (words === undefined) return { lines: [] }
  const all = [...plan.guards.map((guard) => guard.words), words, ...expected]
  const lines = all.flatMap((one) => lineOf(one) ?? [])
  if (lines.length < all.length) return comment(step, plan, "a flow cannot hold its text")
  // An app may repeat a secret, e.g. in a title.
  if (lines.some((line) => step.hide(line) !== line))
    return comment(step, plan, "its line would hold a secret")
  return { lines }
}

/** Never contains the texts of the command: one of them may be the reason. */
function comment({ command, hide }: RecordedStep, { about }: Plan, reason: string): Lines {
  const text = `${NOT_RECORDED}${command.name}${about === "" ? "" : ` ${about}`}, because ${reason}`
  return { lines: [escapeHidden(hide(text).replaceAll(/[\x00-\x1f]+/g, " "))], reason }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** One write, so that lines of several processes do not mix. Follows no link, and waits for no reader of a pipe. */
function append(path: string, text: string): void {
  const { O_WRONLY, O_NOFOLLOW, O_NONBLOCK, O_CREAT, O_APPEND } = constants
  const fd = openSync(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CREAT | O_APPEND, 0o600)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() || stat.uid !== process.geteuid?.()) throw new Error("it is not a file of this user")
    if ((stat.mode & 0o777) !== 0o600) fchmodSync(fd, 0o600)
    const bytes = Buffer.from(text)
    if (writeSync(fd, bytes) < bytes.length) throw new Error("the disk is full")
  } finally {
    closeSync(fd)
  }
}
