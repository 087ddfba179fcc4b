import { describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { Deadline } from "../../../src/deadline.ts"
import { installHint } from "../../../src/linux/desktops/packages.ts"
import { until } from "../../support/until.ts"
import { desktopsOfEachTest, marked } from "./desktops.ts"

const desktops = desktopsOfEachTest()

describe("a start that fails", () => {
  for (const parts of [0, 1, 2, 3]) {
    test(`leaves nothing if it is interrupted after ${parts} of its parts`, async () => {
      const interruption = new AbortController()
      const starting = desktops
        .start({ name: "one" }, Deadline.in(20_000, interruption.signal))
        .catch((error) => error)
      const record = await until(() => desktops.record("one"))
      while ((desktops.record("one")?.parts.length ?? parts) < parts) await Bun.sleep(0)
      interruption.abort()

      expect(await starting).toMatchObject({ code: "TIMEOUT" })
      expect(tracesOf(record.id, record.env.XDG_RUNTIME_DIR!)).toEqual([])
      expect(desktops.list()).toEqual([])
    })
  }

  test("leaves nothing if a part ends at once", async () => {
    const bin = `${desktops.root}/bin`
    mkdirSync(bin)
    writeFileSync(`${bin}/openbox`, "#!/bin/sh\nexit 3\n")
    chmodSync(`${bin}/openbox`, 0o755)

    expect(
      await desktops
        .start({ name: "one", env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } })
        .catch((error) => error),
    ).toMatchObject({ code: "ACTION_FAILED", message: "openbox ended before it was ready" })
    expect(desktops.list()).toEqual([])
  })

  test("reports what the part wrote to its log", async () => {
    const bin = `${desktops.root}/bin`
    mkdirSync(bin)
    writeFileSync(`${bin}/Xvfb`, "#!/bin/sh\necho 'no memory for a screen' >&2\nexit 1\n")
    chmodSync(`${bin}/Xvfb`, 0o755)

    expect(
      await desktops
        .start({ env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } })
        .catch((error) => error),
    ).toMatchObject({
      code: "ACTION_FAILED",
      message: "Xvfb ended before it was ready",
      platformDetail: "no memory for a screen",
    })
    expect(desktops.list()).toEqual([])
  })

  test("can be cleaned up by another process if its own was killed", async () => {
    const child = desktops.spawnChild(
      "await startDesktop({ ...options, name: 'one' }, Deadline.in(20000)); setInterval(() => {}, 1000)",
    )
    const record = await until(() => {
      const found = desktops.record("one")
      return found && found.parts.length > 0 && found
    })
    // Stopped first: it must not continue before it is killed.
    child.kill("SIGSTOP")
    const isReady = desktops.record("one")?.ready
    child.kill("SIGKILL")
    await child.exited

    if (!isReady)
      expect(desktops.list()).toMatchObject([{ name: "one", broken: "its start was interrupted" }])
    await desktops.stop("one")
    expect(tracesOf(record.id, record.env.XDG_RUNTIME_DIR!)).toEqual([])
  })

  test("names the packages that are missing", async () => {
    const error = await desktops
      .start({ env: { PATH: "/nonexistent", XDG_DATA_DIRS: "/nonexistent" } })
      .catch((error) => error)

    expect(error).toMatchObject({
      code: "PLATFORM_NOT_SUPPORTED",
      message: "An isolated desktop needs Xvfb, dbus-daemon, openbox, org.a11y.Bus: not installed",
      details: { missing: ["Xvfb", "dbus-daemon", "openbox", "org.a11y.Bus"] },
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
    expect(existsSync(`${desktops.root}/desktops`)).toBe(false)
  })

  test("doctor names the same packages", async () => {
    const main = new URL("../../../src/main.ts", import.meta.url).pathname
    const doctor = Bun.spawn([process.execPath, main, "doctor"], {
      env: { PATH: "/nonexistent", XDG_DATA_DIRS: "/nonexistent", AGENT_DESKTOP_HOME: desktops.root },
    })
    const { data } = JSON.parse(await new Response(doctor.stdout).text())
    expect(data.checks).toContainEqual({
      name: "isolated_desktops",
      ok: false,
      detail: "not installed: Xvfb, openbox, dbus-daemon, org.a11y.Bus",
      suggestion: installHint(["Xvfb", "openbox", "dbus-daemon", "org.a11y.Bus"]),
    })
  })
})

const tracesOf = (id: string, runtime: string) => [...marked(id), ...(existsSync(runtime) ? [runtime] : [])]
