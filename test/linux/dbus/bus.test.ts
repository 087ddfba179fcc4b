import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { parseAddresses } from "../../../src/linux/dbus/auth.ts"
import {
  Bus,
  DBUS,
  DBUS_PATH,
  DBusClosed,
  DBusError,
  DBusTimeout,
  method,
  readAs,
} from "../../../src/linux/dbus/bus.ts"
import { message } from "../../../src/linux/dbus/message.ts"
import { unmarshal } from "../../../src/linux/dbus/read.ts"
import { type Daemon, startDaemon, startPeer } from "./daemon.ts"

const soon = () => Deadline.in(10_000)
const LIST_NAMES = method(`${DBUS}.ListNames`)
const ECHO = (text: string) => method("test.Echo.Say", "s", [text])

let daemon: Daemon
beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

async function open(address = daemon.address): Promise<Bus & Disposable> {
  const bus = await Bus.open(address, soon())
  return Object.assign(bus, { [Symbol.dispose]: () => bus.close() })
}

/** Two connections; the second one answers every call with the call's argument. */
async function openEcho(): Promise<{ client: Bus; name: string } & Disposable> {
  const [client, server] = await Promise.all([open(), open()])
  server.serve((call) => {
    if (call.member === "Fail") return { error: "test.Error.Refused", text: "not today" }
    if (call.member === "Silent") return undefined
    return { signature: call.signature, values: unmarshal(call.signature, call.body) }
  })
  return {
    client,
    name: await server.name,
    [Symbol.dispose]() {
      client.close()
      server.close()
    },
  }
}

describe("a connection", () => {
  test("reaches a bus on a path and one in the abstract namespace", async () => {
    await using abstract = await startDaemon("abstract")
    expect(abstract.address).toContain("unix:abstract=")
    for (const address of [daemon.address, abstract.address]) {
      using bus = await open(address)
      const names = readAs(await bus.call(LIST_NAMES, DBUS, DBUS_PATH, soon()), "as").array(4, (r) =>
        r.string(),
      )
      expect(names).toContain(await bus.name)
    }
  })

  test("uses the first address of a list that works", async () => {
    using bus = await open(`tcp:host=localhost;unix:path=/nonexistent/bus;${daemon.address}`)
    expect(await bus.name).toStartWith(":1.")
  })

  test("reports which addresses failed and why", async () => {
    await expect(open("unix:path=/nonexistent/bus")).rejects.toThrow("/nonexistent/bus")
    await expect(open("tcp:host=localhost,port=1")).rejects.toThrow("no usable unix socket")
    await expect(open("")).rejects.toThrow(DBusClosed)
  })

  test("that opens after its deadline fails, because there was no time left to greet the bus", async () => {
    for (let round = 0; round < 50; round++) {
      const opening = Bus.open(daemon.address, Deadline.in(1))
      // Simulates a busy machine: this process does not run until the deadline has passed.
      for (const end = performance.now() + 2; performance.now() < end; );
      await expect(opening).rejects.toBeInstanceOf(DBusTimeout)
    }
  })

  test("to a listener that never accepts the authentication ends at the deadline", async () => {
    using peer = startPeer({})
    const bus = await Bus.open(peer.address, Deadline.in(200))
    await expect(bus.call(LIST_NAMES, DBUS, DBUS_PATH, Deadline.in(200))).rejects.toThrow(DBusTimeout)
    await expect(bus.name).rejects.toThrow(DBusTimeout)
    await bus.name.catch(() => {})
    bus.close()
  })

  test("that is rejected fails every call with the rejection", async () => {
    using peer = startPeer({ data: (socket) => void socket.write("REJECTED EXTERNAL\r\n") })
    const bus = await Bus.open(peer.address, soon())
    await expect(bus.call(LIST_NAMES, DBUS, DBUS_PATH, soon())).rejects.toThrow(
      "refused the authentication: REJECTED",
    )
    await bus.name.catch(() => {})
    expect(bus.failure).toBeInstanceOf(DBusClosed)
  })

  test("to a server that does not speak D-Bus fails with a clear error", async () => {
    for (const answer of [
      "OK 1234\r\nHTTP/1.1 400 Bad Request\r\n\r\n",
      "\x00".repeat(20_000),
      "OK 1234\r\nl\x09",
    ]) {
      using peer = startPeer({
        data: (socket) => {
          socket.write(answer)
          socket.end()
        },
      })
      const bus = await Bus.open(peer.address, soon())
      await expect(bus.call(LIST_NAMES, DBUS, DBUS_PATH, soon())).rejects.toThrow(DBusClosed)
      await bus.name.catch(() => {})
    }
  })

  test("understands a peer of the other byte order", async () => {
    using peer = startPeer({
      data: (socket) => {
        const reply = (serial: number, text: string) =>
          message(2, serial, { replySerial: serial }, "s", [text], false)
        socket.write(Buffer.concat([Buffer.from("OK 1234\r\n"), reply(1, ":1.42"), reply(2, "große Zahlen")]))
      },
    })
    using bus = await open(peer.address)
    const reply = bus.call(LIST_NAMES, DBUS, DBUS_PATH, soon())
    expect(await bus.name).toBe(":1.42")
    expect(readAs(await reply, "s").string()).toBe("große Zahlen")
  })

  test("that dies fails all its pending calls at once", async () => {
    await using mortal = await startDaemon()
    const [client, server] = [await open(mortal.address), await open(mortal.address)]
    server.serve(() => undefined)
    const name = await server.name
    const calls = Array.from({ length: 100 }, () => client.call(ECHO("x"), name, "/", soon()))
    const outcomes = Promise.allSettled(calls)
    // The calls are certainly pending once the bus has passed them on.
    await client.call(LIST_NAMES, DBUS, DBUS_PATH, soon())
    mortal.process.kill("SIGKILL")
    for (const outcome of await outcomes) {
      expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(DBusClosed)
    }
    await expect(client.call(LIST_NAMES, DBUS, DBUS_PATH, soon())).rejects.toThrow(DBusClosed)
    server.close()
  })

  test("closed by the client fails its pending calls too", async () => {
    using echo = await openEcho()
    const call = echo.client.call(method("test.Echo.Silent"), echo.name, "/", soon())
    echo.client.close()
    await expect(call).rejects.toThrow("the connection was closed")
  })
})

describe("a call", () => {
  test("can run with thousands of others, and each gets its own answer", async () => {
    using echo = await openEcho()
    const texts = Array.from({ length: 5000 }, (_, index) => `call ${index}`)
    const replies = await Promise.all(
      texts.map((text) => echo.client.call(ECHO(text), echo.name, "/", Deadline.in(60_000))),
    )
    expect(replies.map((reply) => readAs(reply, "s").string())).toEqual(texts)
  })

  test("can be larger than the socket's buffer, both ways", async () => {
    using echo = await openEcho()
    const text = "0123456789abcdef".repeat(400_000)
    const [one, two] = await Promise.all([
      echo.client.call(ECHO(text), echo.name, "/", Deadline.in(60_000)),
      echo.client.call(ECHO("small"), echo.name, "/", Deadline.in(60_000)),
    ])
    expect(readAs(one, "s").string()).toBe(text)
    expect(readAs(two, "s").string()).toBe("small")
  })

  test("answered with an error has the error's name and text", async () => {
    using echo = await openEcho()
    const error = await echo.client
      .call(method("test.Echo.Fail"), echo.name, "/", soon())
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(DBusError)
    expect(error).toMatchObject({ code: "test.Error.Refused", message: "not today" })
  })

  test("to a name without an owner is refused by the bus, and starts no service", async () => {
    using bus = await open()
    const error = await bus.call(ECHO("x"), "org.a11y.Nobody", "/", soon()).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: "org.freedesktop.DBus.Error.NameHasNoOwner" })
  })

  test("without an answer ends at its own deadline, and others continue", async () => {
    using echo = await openEcho()
    const silent = echo.client.call(method("test.Echo.Silent"), echo.name, "/", Deadline.in(100))
    const long = echo.client.call(method("test.Echo.Silent"), echo.name, "/", Deadline.in(300))
    await expect(silent).rejects.toThrow(DBusTimeout)
    await silent.catch(() => {})
    expect(readAs(await echo.client.call(ECHO("still here"), echo.name, "/", soon()), "s").string()).toBe(
      "still here",
    )
    await expect(long).rejects.toThrow("no answer to Silent")
    await long.catch(() => {})
    expect(echo.client.failure).toBeUndefined()
  })

  test("queued behind too many others still ends at its deadline", async () => {
    using echo = await openEcho()
    const calls = Array.from({ length: 2100 }, () =>
      echo.client.call(method("test.Echo.Silent"), echo.name, "/", Deadline.in(300)),
    )
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.every((one) => one.status === "rejected" && one.reason instanceof DBusTimeout)).toBe(true)
    expect(readAs(await echo.client.call(ECHO("after"), echo.name, "/", soon()), "s").string()).toBe("after")
  })

  test("ends when it is cancelled", async () => {
    using echo = await openEcho()
    const cancel = new AbortController()
    const call = echo.client.call(
      method("test.Echo.Silent"),
      echo.name,
      "/",
      Deadline.in(60_000, cancel.signal),
    )
    cancel.abort()
    await expect(call).rejects.toThrow(DBusTimeout)
    await call.catch(() => {})
  })

  test("with a reply of the wrong type fails on reading, and the connection stays open", async () => {
    using echo = await openEcho()
    const reply = await echo.client.call(ECHO("text"), echo.name, "/", soon())
    expect(() => readAs(reply, "u")).toThrow("a reply of type 's' where 'u' was expected")
    expect(echo.client.failure).toBeUndefined()
  })
})

test("signals arrive as long as they are subscribed", async () => {
  const [hearer, speaker] = await Promise.all([open(), open()])
  const rule = `type='signal',sender='${await speaker.name}',interface='test.Sig'`
  await hearer.match(rule, soon())
  const heard = Promise.withResolvers<string>()
  const stop = hearer.listen((signal) => {
    if (signal.interface === "test.Sig")
      heard.resolve(`${signal.member} ${signal.path} ${signal.body.string()}`)
  })
  speaker.emit("/here", "test.Sig.Happened", "s", ["now"])
  expect(await heard.promise).toBe("Happened /here now")
  stop()
  await hearer.unmatch(rule, soon())
  hearer.close()
  speaker.close()
})

test("addresses may have escapes and keys in any order, and other transports are skipped", () => {
  const unix = (text: string) => parseAddresses(text).map((address) => address.unix)
  expect(unix("unix:path=/run/user/0/bus")).toEqual(["/run/user/0/bus"])
  expect(unix("unix:guid=12,path=/a%20b%2cc")).toEqual(["/a b,c"])
  expect(unix("unix:abstract=/tmp/dbus-X,guid=1;unix:path=/b")).toEqual(["\0/tmp/dbus-X", "/b"])
  expect(unix("unix:path=%c3%a4")).toEqual(["ä"])
  expect(unix("unix:path=%ff")).toEqual([])
  expect(unix("unix:path=%zz")).toEqual([])
  expect(unix("unix:path=/x%2")).toEqual([])
  expect(unix("unix:runtime=yes")).toEqual([])
  expect(unix("tcp:host=x;unixexec:path=/bin/sh;autolaunch:;;nonsense")).toEqual([])
})
