import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { Deadline } from "../../../src/deadline.ts"
import { X11 } from "../../../src/linux/x11/connection.ts"
import { getGeometry, getProperty, queryTree } from "../../../src/linux/x11/requests.ts"
import { Request, XError } from "../../../src/linux/x11/wire.ts"
import { temporary } from "../../support/temporary.ts"
import { patience, startXvfb, type Xvfb } from "./xvfb.ts"

let desk: Xvfb

beforeAll(async () => {
  desk = await startXvfb({ size: "1000x700" })
})

afterAll(() => desk[Symbol.asyncDispose]())

describe("a real server", () => {
  test("reports the size that xdpyinfo reports", async () => {
    const { screen } = desk.x.setup
    expect(await desk.run(["xdpyinfo"])).toContain(`dimensions:    ${screen.width}x${screen.height} pixels`)
    expect([screen.width, screen.height, screen.depth]).toEqual([1000, 700, 24])
  })

  test("answers thousands of parallel requests, each with its own reply", async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `_AGENT_TEST_${i}`)
    await desk.x.intern(names, patience())
    expect(new Set(names.map((name) => desk.x.atom(name))).size).toBe(3000)
    expect(await desk.run(["xlsatoms", "-range", `${desk.x.atom("_AGENT_TEST_2999")}-`])).toContain(
      "_AGENT_TEST_2999",
    )
  })

  test("matches replies to requests beyond 65536 requests", async () => {
    for (let i = 0; i < 140_000; i++) desk.x.send(new Request(127))
    await desk.x.sync(patience())
    expect((await getGeometry(desk.x, desk.x.root, patience())).width).toBe(1000)
  })

  test("reports an error to the request that caused it, and continues", async () => {
    const [bad, good] = await Promise.allSettled([
      getGeometry(desk.x, 0x7ffffff, patience()),
      getGeometry(desk.x, desk.x.root, patience()),
    ])
    expect(good.status).toBe("fulfilled")
    expect(bad).toMatchObject({
      reason: { code: "ACTION_FAILED", platformDetail: expect.stringContaining("BadDrawable") },
    })
  })

  test("reports errors of requests without a reply", async () => {
    const destroy = (window: number) => desk.x.check([new Request(4).u32(window)], patience())
    await expect(destroy(0x7ffffff)).rejects.toBeInstanceOf(XError)
    await desk.x.check([new Request(127)], patience())
  })

  test("accepts a property larger than a plain request, and returns it whole", async () => {
    const limit = await desk.x.growRequests(patience())
    expect(limit).toBeGreaterThan(1_000_000)
    await desk.x.intern(["_AGENT_BIG", "STRING"], patience())
    const value = new Uint8Array(900_001).map((_, i) => i % 251)
    const change = new Request(18, 0)
      .u32(desk.x.root)
      .u32(desk.x.atom("_AGENT_BIG"))
      .u32(desk.x.atom("STRING"))
      .u8(8)
      .zeros(3)
      .u32(value.length)
      .bytes(value)
    await desk.x.check([change], patience())
    const read = await getProperty(desk.x, desk.x.root, desk.x.atom("_AGENT_BIG"), patience(), {
      maxBytes: 2_000_000,
    })
    expect(read?.bytes).toEqual(value)
  })

  test("reports its extensions", async () => {
    expect(await desk.x.extension("XTEST", patience())).toBeDefined()
    expect(await desk.x.extension("NO-SUCH-EXTENSION", patience())).toBeUndefined()
  })

  test("delivers events to a listener, in order", async () => {
    await desk.x.intern(["_AGENT_EVENT"], patience())
    using events = desk.x.listen(
      (event) => event.code === 28 && event.packet.u32(8) === desk.x.atom("_AGENT_EVENT"),
    )
    desk.x.send(
      new Request(2)
        .u32(desk.x.root)
        .u32(1 << 11)
        .u32(1 << 22),
    )
    await desk.x.sync(patience())
    await desk.run(["xprop", "-root", "-f", "_AGENT_EVENT", "8s", "-set", "_AGENT_EVENT", "hello"])
    await desk.run(["xprop", "-root", "-remove", "_AGENT_EVENT"])
    expect((await events.next(patience()))?.packet.u8(16)).toBe(0)
    expect((await events.next(patience()))?.packet.u8(16)).toBe(1)
    expect(await events.next(Deadline.in(1))).toBeUndefined()
  })

  test("asks for a cookie, and accepts the one in the authority file", async () => {
    await using closed = await startXvfb({ cookie: "00112233445566778899aabbccddeeff" })
    expect((await getGeometry(closed.x, closed.x.root, patience())).width).toBe(1280)
    const { XAUTHORITY: _, ...stranger } = closed.env
    await expect(X11.connect(stranger, patience())).rejects.toMatchObject({
      code: "PERM_DENIED",
      suggestion: expect.stringContaining("XAUTHORITY"),
    })
  })

  test("fails everything pending when it dies", async () => {
    await using dying = await startXvfb()
    process.kill(dying.pid, "SIGSTOP")
    using events = dying.x.listen(() => true)
    const pending = [dying.x.sync(patience()), dying.x.sync(patience()), events.next(patience())]
    process.kill(dying.pid, "SIGKILL")
    for (const one of await Promise.allSettled(pending)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: "PLATFORM_NOT_SUPPORTED" } })
    }
    expect(dying.x.closed).toBe(true)
    await expect(dying.x.sync(patience())).rejects.toMatchObject({ code: "PLATFORM_NOT_SUPPORTED" })
  })

  test("that stops answering fails a request at its deadline, and others keep waiting", async () => {
    await using silent = await startXvfb()
    process.kill(silent.pid, "SIGSTOP")
    const late = silent.x.sync(patience())
    await expect(silent.x.sync(Deadline.in(30))).rejects.toMatchObject({
      code: "TIMEOUT",
      details: { kind: "x11" },
    })
    const interrupt = new AbortController()
    const interrupted = silent.x.sync(Deadline.in(20_000, interrupt.signal))
    interrupt.abort()
    await expect(interrupted).rejects.toMatchObject({ code: "TIMEOUT" })
    await Promise.allSettled([interrupted])
    process.kill(silent.pid, "SIGCONT")
    await late
  })
})

describe("without a server", () => {
  test("the error says that the display cannot be reached", async () => {
    await expect(X11.connect({ DISPLAY: "unix:/nonexistent/socket" }, patience())).rejects.toMatchObject({
      code: "PLATFORM_NOT_SUPPORTED",
      suggestion: expect.stringContaining("DISPLAY"),
    })
  })
})

describe("a peer that is not an X server", () => {
  const accepted = () => {
    const setup = new Uint8Array(8 + 32 + 40)
    const view = new DataView(setup.buffer)
    setup[0] = 1
    view.setUint16(2, 11, true)
    view.setUint16(6, (32 + 40) / 4, true)
    view.setUint32(12, 0x200000, true)
    view.setUint32(16, 0x1fffff, true)
    view.setUint16(26, 65535, true)
    setup[28] = 1
    setup[34] = 8
    setup[35] = 255
    view.setUint32(40, 0x100, true)
    return setup
  }
  const reply = (sequence: number, words = 0) => {
    const bytes = new Uint8Array(32)
    const view = new DataView(bytes.buffer)
    bytes[0] = 1
    view.setUint16(2, sequence, true)
    view.setUint32(4, words, true)
    return bytes
  }

  /** Plays back one list of chunks for each piece of data from the client. */
  async function playback(
    answers: readonly (Uint8Array | "close")[][],
    act: (env: { DISPLAY: string }) => Promise<void>,
  ) {
    using place = temporary()
    const path = join(place.path, "s")
    const script = [...answers]
    const server = Bun.listen({
      unix: path,
      socket: {
        data(socket) {
          for (const answer of script.shift() ?? []) {
            if (answer === "close") socket.end()
            else socket.write(answer)
          }
        },
      },
    })
    try {
      await act({ DISPLAY: `unix:${path}` })
    } finally {
      server.stop(true)
    }
  }

  const noise = new Uint8Array(64).fill(0xee)

  test.each([
    ["says nothing", [[]], "TIMEOUT"],
    ["hangs up", [["close"]], "PLATFORM_NOT_SUPPORTED"],
    ["sends a torn setup and hangs up", [[accepted().subarray(0, 20), "close"]], "PLATFORM_NOT_SUPPORTED"],
    ["sends noise", [[noise]], "TIMEOUT"],
    ["refuses", [[Uint8Array.of(0, 2, 11, 0, 0, 0, 1, 0, 110, 111, 0, 0)]], "PERM_DENIED"],
    ["accepts without a screen", [[Uint8Array.of(1, 0, 11, 0, 0, 0, 0, 0)]], "INTERNAL"],
  ] as const)("and %s fails the connection", (_, answers, code) =>
    playback(
      answers.map((list) => [...list]),
      async (env) => {
        const limit = code === "TIMEOUT" ? Deadline.in(100) : patience()
        await expect(X11.connect(env, limit)).rejects.toMatchObject({ code })
      },
    ),
  )

  const children = (count: number) => {
    const bytes = reply(1)
    new DataView(bytes.buffer).setUint16(16, count, true)
    return bytes
  }

  test.each([
    ["more children than it sends", [children(1000)], "INTERNAL"],
    ["a reply to a request that was never made", [reply(9)], "INTERNAL"],
    ["a reply of sixteen gigabytes", [reply(1, 0xffffffff)], "INTERNAL"],
    ["half a reply and silence", [reply(1, 4)], "TIMEOUT"],
    ["a hang-up in the middle of a reply", [reply(1).subarray(0, 9), "close"], "PLATFORM_NOT_SUPPORTED"],
  ] as const)("and answers with %s fails the request", (_, answer, code) =>
    playback([[accepted()], [...answer]], async (env) => {
      const x = await X11.connect(env, patience())
      const limit = code === "TIMEOUT" ? Deadline.in(100) : patience()
      await expect(queryTree(x, x.root, limit)).rejects.toMatchObject({ code })
      x.close()
    }),
  )

  test("and skips a reply fails only that request", () =>
    playback([[accepted()], [reply(2)]], async (env) => {
      const x = await X11.connect(env, patience())
      const [skipped, answered] = await Promise.allSettled([x.sync(patience()), x.sync(patience())])
      expect(skipped).toMatchObject({ status: "rejected", reason: { code: "INTERNAL" } })
      expect(answered.status).toBe("fulfilled")
      x.close()
    }))

  test("is found by its abstract name if there is no path", async () => {
    const number = 30_000 + Math.floor(Math.random() * 30_000)
    const server = Bun.listen({
      unix: `\0/tmp/.X11-unix/X${number}`,
      socket: { data: (socket) => void socket.write(accepted()) },
    })
    const x = await X11.connect({ DISPLAY: `:${number}` }, patience())
    expect(x.root).toBe(0x100)
    x.close()
    server.stop(true)
  })
})
