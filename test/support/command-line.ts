import { expect, test } from "bun:test"
import { parseArgv } from "../../src/cli/args.ts"
import { UsageError } from "../../src/schema/usage-errors.ts"
import { globals, registry } from "./synthetic-commands.ts"

export const parse = (...argv: string[]) => parseArgv(argv, registry, globals)

/** The command's name, its arguments and the global options, as the command line is read. */
export async function ran(...argv: string[]) {
  const parsed = await parse(...argv)
  if (parsed.kind !== "run") throw new Error(`expected a run, got ${parsed.kind}`)
  return { command: parsed.command.name, args: parsed.args, globals: parsed.globals }
}

export const argsOf = async (...argv: string[]) => (await ran(...argv)).args

export async function failure(...argv: string[]): Promise<UsageError> {
  const thrown = await parse(...argv).catch((error: unknown) => error)
  if (!(thrown instanceof UsageError)) throw new Error(`expected a UsageError, got ${Bun.inspect(thrown)}`)
  expect(thrown.code).toBe("INVALID_ARGS")
  expect(thrown.suggestion).toContain("'agent-desktop help")
  return thrown
}

/** Expects that each line of arguments fails with this message, for this command. */
export function refused(
  command: string,
  cases: readonly (readonly [argv: readonly string[], message: string])[],
) {
  test.each(cases.map(([argv, message]) => [argv.join(" "), argv, message] as const))(
    "refuses: %s",
    async (_, argv, message) => {
      const error = await failure(...argv)
      expect(error.message).toBe(message)
      expect(error.command).toBe(command)
    },
  )
}
