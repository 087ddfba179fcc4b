import { expect, test } from "bun:test"
import { Deadline } from "../src/deadline.ts"
import { type InputHolder, type InputLock, Turn } from "../src/turn.ts"

/** A lock that several turns compete for, with a count of what is open. */
function sharedLock(who: InputHolder = {}) {
  let holder: object | undefined
  let open = 0
  const openLock = async (): Promise<InputLock> => {
    const me = {}
    open++
    return {
      tryTake: () => {
        holder ??= me
        return holder === me
      },
      holder: () => who,
      close: () => {
        if (holder === me) holder = undefined
        open--
      },
    }
  }
  return { openLock, open: () => open }
}

test("one command has the turn at a time, and the next one gets it when it is released", async () => {
  const { openLock, open } = sharedLock()
  const [first, second] = [
    new Turn(openLock, Deadline.in(60_000)),
    new Turn(openLock, Deadline.in(60_000)),
  ] as const
  await Promise.all([first.take(), first.take()])
  expect(open()).toBe(1)
  const order: string[] = []
  const waiting = second.take().then(() => order.push("second has it"))
  order.push("first releases")
  await first.release()
  await waiting
  expect(order).toEqual(["first releases", "second has it"])
  await second.release()
  expect(open()).toBe(0)
})

test.each([
  [
    {},
    "Another command has had the pointer and keyboard all this time",
    "Retry, pass a longer --timeout-ms, or use --input semantic if it suffices",
  ],
  [
    { pid: 812, display: ":7", instead: "another desktop" },
    "According to the display, process 812 has had the pointer and keyboard of :7 all this time",
    "Retry, pass a longer --timeout-ms, use --input semantic if it suffices, or another desktop",
  ],
])(
  "a command that waits in vain names the holder and leaves nothing open: %o",
  async (who, message, suggestion) => {
    const { openLock, open } = sharedLock(who)
    const holder = new Turn(openLock, Deadline.in(60_000))
    await holder.take()
    const late = new Turn(openLock, Deadline.in(40))
    const error = await late.take().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: "TIMEOUT",
      message,
      suggestion,
      details: { kind: "input_lease" },
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
    await late.release()
    expect(open()).toBe(1)
    await holder.release()
  },
)

test("a lock that fails to open fails the command, and the next try opens it again", async () => {
  const { openLock } = sharedLock()
  let tries = 0
  const turn = new Turn(async () => {
    if (tries++ === 0) throw new Error("no display")
    return openLock()
  }, Deadline.in(60_000))
  expect(await turn.take().catch(({ message }: Error) => message)).toBe("no display")
  await turn.take()
  await turn.release()
  expect(tries).toBe(2)
})
