import { expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { endingOf, follow } from "../../../src/linux/host/exit-status.ts"
import { until } from "../../support/until.ts"

test.each([
  [0, { code: 0 }],
  [3 << 8, { code: 3 }],
  [255 << 8, { code: 255 }],
  [11, { signal: "SIGSEGV" }],
  // The bit for a core dump.
  [11 | 0x80, { signal: "SIGSEGV" }],
  [15, { signal: "SIGTERM" }],
  [40, { signal: "signal 40" }],
])("a status of %i is %j", (status, ending) => {
  expect(endingOf(status)).toEqual(ending)
})

test.each([
  ["exit 0", { code: 0 }],
  ["exit 3", { code: 3 }],
  ["kill -SEGV $$", { signal: "SIGSEGV" }],
])("a program that does '%s' is followed to its end", async (script, ending) => {
  const child = Bun.spawn(["sh", "-c", `read line; ${script}`], { stdin: "pipe" })
  const life = await follow(child.pid, Deadline.in(10_000))
  expect(await life.end()).toBeUndefined()
  child.stdin.write("go\n")
  child.stdin.end()
  await child.exited
  // Before Linux 6.15, the kernel does not report the status of a collected process.
  const end = await until(() => life.end())
  if (Object.keys(end).length > 0) expect(end).toEqual(ending)
  life.close()
})

test("the exit status of a program that its parent has not collected is known", async () => {
  const parent = Bun.spawn(["sh", "-c", "(read line; exit 7) <&3 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  })
  try {
    const { value } = await parent.stdout.getReader().read()
    const life = await follow(Number(new TextDecoder().decode(value)), Deadline.in(10_000))
    expect(await life.end()).toBeUndefined()
    const { writeSync } = await import("node:fs")
    writeSync(parent.stdio[3]!, "go\n")
    expect(await until(() => life.end())).toEqual({ code: 7 })
    life.close()
  } finally {
    parent.kill()
    await parent.exited
  }
})
