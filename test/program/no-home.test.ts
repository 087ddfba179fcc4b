import { beforeAll, expect, test } from "bun:test"
import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { PROGRAM } from "../support/desktop.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { envelopeIn } from "../support/validated.ts"

/** A user with neither a home nor an entry in the list of users, as containers run programs under a random uid. */

const UID = 54_321
const isRoot = process.getuid?.() === 0
const directory = temporaryForFile()
const state = `${directory}/state`

beforeAll(() => {
  chmodSync(directory, 0o755)
  copyFileSync(PROGRAM, `${directory}/agent-desktop`)
  mkdirSync(state, { mode: 0o700 })
  if (isRoot) chownSync(state, UID, UID)
})

const run = (env: Readonly<Record<string, string>>, ...args: string[]) => runIn([], env, ...args)

async function runIn(there: readonly string[], env: Readonly<Record<string, string>>, ...args: string[]) {
  const user = ["setpriv", `--reuid=${UID}`, `--regid=${UID}`, "--clear-groups"]
  const child = Bun.spawn([...there, ...user, `${directory}/agent-desktop`, ...args], {
    cwd: "/",
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  })
  return envelopeIn(await new Response(child.stdout).text())
}

for (const command of ["status", "list-desktops", "desktop-start", "snapshot"])
  test.skipIf(!isRoot)(`${command} says which variable is missing`, async () => {
    expect(await run({}, command)).toMatchObject({
      ok: false,
      error: {
        code: "INVALID_ARGS",
        message: "There is no home directory to keep refs in",
        suggestion: "Set AGENT_DESKTOP_HOME to the absolute path of a separate directory",
      },
    })
  })

test.skipIf(!isRoot)("a home that cannot be written is named together with the variable", async () => {
  expect(await run({ HOME: "/" }, "desktop-start")).toMatchObject({
    error: {
      message: "'/.agent-desktop/desktops' cannot be used",
      suggestion: expect.stringContaining("AGENT_DESKTOP_HOME"),
    },
  })
})

const own = { AGENT_DESKTOP_HOME: state }

test.skipIf(!isRoot)("with AGENT_DESKTOP_HOME the program works", async () => {
  expect(await run(own, "status")).toMatchObject({ ok: true })
  expect(await run(own, "list-desktops")).toMatchObject({ ok: true, data: { desktops: [] } })
})

test.skipIf(!isRoot)(
  "a desktop that the message bus refuses says what the user lacks, and leaves nothing",
  async () => {
    expect(await run(own, "desktop-start", "--name", "random")).toMatchObject({
      ok: false,
      error: {
        code: "PLATFORM_NOT_SUPPORTED",
        message: `User ${UID} is not in /etc/passwd, and dbus-daemon serves no such user`,
        suggestion: expect.stringContaining(`echo 'agent:x:${UID}:${UID}::/tmp:/bin/sh' >> /etc/passwd`),
      },
    })
    expect(await run(own, "list-desktops")).toMatchObject({ data: { desktops: [] } })
  },
)

test.skipIf(!isRoot)("with that line a desktop starts, shows an app and ends", async () => {
  const passwd = `${directory}/passwd`
  writeFileSync(passwd, `${readFileSync("/etc/passwd", "utf8")}agent:x:${UID}:${UID}::/tmp:/bin/sh\n`)
  const known = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
  const there = [...known, `mount --bind ${passwd} /etc/passwd && exec "$@"`, "sh"]
  try {
    expect(await runIn(there, own, "desktop-start", "--name", "random")).toMatchObject({ ok: true })
    expect(await runIn(there, own, "--desktop", "random", "launch", "mousepad")).toMatchObject({ ok: true })
    expect(await runIn(there, own, "--desktop", "random", "snapshot", "--app", "mousepad")).toMatchObject({
      ok: true,
      data: { app: expect.stringMatching(/mousepad/i) },
    })
  } finally {
    expect(await runIn(there, own, "desktop-stop", "random")).toMatchObject({ ok: true })
  }
})
