import { expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { AppError } from "../../../src/errors.ts"
import { Bus, DBusClosed, DBusTimeout } from "../../../src/linux/dbus/bus.ts"
import { isListenedOn } from "../../../src/linux/dbus/queue.ts"
import { openLink } from "../../../src/linux/x11/setup.ts"
import { temporary } from "../../support/temporary.ts"

/** Listens with a queue for one connection. Accepts the waiting one at each line on its input, and prints that. */
const LISTENER = `
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1].replace("@", "\\0"))
server.listen(0)
print("listens", flush=True)
kept = []
for line in sys.stdin:
    kept.append(server.accept())
    print("accepted", flush=True)
`

async function startListener(path: string) {
  const child = Bun.spawn(["/usr/bin/python3", "-c", LISTENER, path], { stdin: "pipe", stdout: "pipe" })
  const lines = child.stdout.getReader()
  const decoder = new TextDecoder()
  const says = async (word: string) => {
    for (let text = ""; !text.includes(word); text += decoder.decode((await lines.read()).value));
  }
  await says("listens")
  return {
    async accept() {
      child.stdin.write("next\n")
      child.stdin.flush()
      await says("accepted")
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

/** Fills the queue: the next connection has no room. */
const fill = (unix: string) => Bun.connect({ unix, socket: { data: () => {} } })

const outcome = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "open" as const,
    (error: unknown) => error,
  )

test("a bus whose queue is full is late, not missing", async () => {
  using place = temporary()
  const path = `${place.path}/bus`
  await using _ = await startListener(path)
  await fill(path)
  const error = await outcome(Bus.open(`unix:path=${path}`, Deadline.in(100)))
  expect(error).toBeInstanceOf(DBusTimeout)
})

test("a bus is connected to as soon as its queue has room", async () => {
  using place = temporary()
  const path = `${place.path}/a bus`
  await using listener = await startListener(path)
  await fill(path)
  const opening = outcome(Bus.open(`unix:path=${path.replace(" ", "%20")}`, Deadline.in(10_000)))
  await listener.accept()
  expect(await opening).toBe("open")
})

test("a display whose queue is full is late, not missing", async () => {
  using place = temporary()
  const path = `${place.path}/X0`
  await using _ = await startListener(path)
  await fill(path)
  const target = { name: ":0", number: "0", screen: 0, addresses: [{ unix: path }] }
  const error = await outcome(openLink(target, undefined, Deadline.in(100)))
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ code: "TIMEOUT" })
})

test("a socket without a listener is refused at once", async () => {
  using place = temporary()
  const path = `${place.path}/bus`
  {
    await using _ = await startListener(path)
    expect(isListenedOn(path)).toBe(true)
  }
  expect(isListenedOn(path)).toBe(false)
  expect(await outcome(Bus.open(`unix:path=${path}`, Deadline.in(10_000)))).toBeInstanceOf(DBusClosed)
})

test("a listener in the abstract namespace is found", async () => {
  using place = temporary()
  await using _ = await startListener(`@${place.path}/bus`)
  expect(isListenedOn(`\0${place.path}/bus`)).toBe(true)
})
