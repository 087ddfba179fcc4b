import { expect, test } from "bun:test"
import { temporary } from "../support/temporary.ts"
import { PROGRAM } from "./program.ts"

/** Input that does not end, or that no program writes. */

/** Runs a line of a shell in which `program` is the compiled program. */
function shell(line: string, directory: string): Bun.Subprocess<"ignore", "pipe", "inherit"> {
  return Bun.spawn(["/bin/bash", "-c", `program() { '${PROGRAM}' "$@"; }; ${line}`], {
    cwd: directory,
    env: { ...process.env, AGENT_DESKTOP_HOME: directory },
    stdio: ["ignore", "pipe", "inherit"],
  })
}

/** More than a flow can be, and little enough for a program that reads all of it. */
const MUCH = 600_000_000

test.each([
  [`yes version | head -c ${MUCH} | program replay - --dry-run`, "Standard input is longer than"],
  [`yes '[' | head -c ${MUCH} | program batch -`, "Standard input is longer than"],
  ["program replay /dev/zero --dry-run", "The flow is longer than"],
  [`program replay <(yes version | head -c ${MUCH}) --dry-run`, "The flow is longer than"],
])("%s is refused long before all is read", async (line, message) => {
  using place = temporary()
  const child = shell(line, place.path)
  const { error } = JSON.parse(await new Response(child.stdout).text())
  expect(error).toMatchObject({ code: "INVALID_ARGS", message: expect.stringContaining(message) })
  await child.exited
  // Of the largest process in the line, in bytes.
  expect(child.resourceUsage()!.maxRSS).toBeLessThan(400 * 1_048_576)
})

test.each([
  // A pipe that stays open, without a byte.
  ["mkfifo pipe; exec 3<>pipe; program replay - --dry-run --timeout-ms 700 <&3", "TIMEOUT"],
  ["mkfifo pipe; exec 3<>pipe; program replay pipe --dry-run --timeout-ms 700", "TIMEOUT"],
  // No program ever writes.
  ["mkfifo pipe; program replay pipe --dry-run --timeout-ms 700", "INVALID_ARGS"],
  ["program replay - --dry-run <&-", "INVALID_ARGS"],
])("%s ends in time", async (line, code) => {
  using place = temporary()
  const child = shell(line, place.path)
  const start = performance.now()
  const { error } = JSON.parse(await new Response(child.stdout).text())
  expect(error.code).toBe(code)
  await child.exited
  expect(performance.now() - start).toBeLessThan(15_000)
})

test("the program that writes a flow into a named pipe may come late", async () => {
  using place = temporary()
  const late = "mkfifo pipe; (sleep 1; echo version > pipe) & program replay pipe --dry-run"
  const child = shell(late, place.path)
  expect(JSON.parse(await new Response(child.stdout).text()).data.lines).toBe(1)
})

test("a line that waits for standard input leaves no process behind", async () => {
  using place = temporary()
  const line =
    "mkfifo pipe; exec 3<>pipe; printf 'clipboard-set - --timeout-ms 700' > a.flow; program replay a.flow <&3"
  const child = shell(line, place.path)
  const start = performance.now()
  expect(JSON.parse(await new Response(child.stdout).text()).error.details.line).toBe(1)
  await child.exited
  expect(performance.now() - start).toBeLessThan(15_000)
})

test("a flow may come through a pipe of the shell", async () => {
  using place = temporary()
  const child = shell("program replay <(echo version; echo version) --dry-run", place.path)
  expect(JSON.parse(await new Response(child.stdout).text()).data.lines).toBe(2)
})
