import { afterEach, beforeEach, expect, test } from "bun:test"
import type { Platform } from "../../../src/adapter.ts"
import { Deadline } from "../../../src/deadline.ts"
import type { DesktopInfo } from "../../../src/desktop.ts"
import { connectLinux } from "../../../src/linux/adapter.ts"
import { listDesktops, startDesktop, stopDesktop } from "../../../src/linux/desktops/desktop.ts"
import { type Temporary, temporary } from "../../support/temporary.ts"
import { until } from "../../support/until.ts"

/** A server that works on a desktop for a long time. The desktop may end and start again under its name. */

let place: Temporary
let root: string
let platform: Platform

beforeEach(async () => {
  place = temporary("/tmp")
  root = place.path
  platform = await connectLinux({ env: process.env, root, desktop: "one" })
})

afterEach(async () => {
  await platform.close()
  for (const { name } of listDesktops(root)) await stopDesktop(root, name, Deadline.in(15_000))
  place[Symbol.dispose]()
})

const adapter = () => platform.adapter(Deadline.in(10_000))

test("a server on a named desktop continues after the desktop was stopped and started again", async () => {
  expect(await adapter().windows().catch(reason)).toBe("Desktop 'one' does not exist")
  for (const title of ["first", "second", "third"]) {
    const desktop = await start()
    await show(desktop, title)
    await until(async () => (await titles()).join() === title, 20_000)
    expect((await adapter().displays())[0]?.bounds).toMatchObject({ width: 640, height: 480 })
    expect((await adapter().permissions(false)).granted).toBe(true)
    await stopDesktop(root, "one", Deadline.in(15_000))

    expect(await adapter().windows().catch(reason)).toBe("Desktop 'one' does not exist")
  }
})

test("after a desktop was replaced, the next command looks at the new one", async () => {
  await show(await start(), "before")
  await until(async () => (await titles()).join() === "before", 20_000)
  await stopDesktop(root, "one", Deadline.in(15_000))
  await show(await start(), "after")

  // No command has noticed that the first desktop has ended.
  expect(await titles()).toEqual(["after"])
})

const reason = (error: unknown) => (error instanceof Error ? error.message : error)

const titles = async () => (await adapter().windows()).map(({ title }) => title)

const start = () =>
  startDesktop({ root, name: "one", width: 640, height: 480, env: process.env }, Deadline.in(30_000))

/** Opens a window and waits until another client sees it managed. */
async function show({ env }: DesktopInfo, title: string): Promise<void> {
  const full = { ...process.env, ...env }
  Bun.spawn(["xterm", "-T", title], { env: full, stdio: ["ignore", "ignore", "ignore"], detached: true })
  await until(
    () =>
      Bun.spawnSync(["xprop", "-root", "_NET_CLIENT_LIST"], { env: full }).stdout.toString().includes("0x"),
    20_000,
  )
}
