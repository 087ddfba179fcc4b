import { closeSync, renameSync } from "node:fs"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import { openPrivateDirectory, readPrivateFile, stateRoot, writePrivateFile } from "../../private-files.ts"
import { type Bus, method } from "../dbus/bus.ts"
import type { Value, Variant } from "../dbus/wire.ts"
import type { Axis } from "./devices.ts"
import {
  askPortal,
  nextToken,
  type Options,
  PORTAL,
  PORTAL_PATH,
  portalFailure,
  portalVersion,
  text,
  textOf,
} from "./portal.ts"
import type { DistanceRemote } from "./remote.ts"
import type { BusAccess } from "./session-bus.ts"

/** Opens a session that may press keys and move the pointer: always both, so that one consent covers both. */
export async function openRemote(env: Env, access: BusAccess, deadline: Deadline): Promise<DistanceRemote> {
  try {
    const bus = await access.bus(deadline)
    const version = await portalVersion(bus, REMOTE, deadline)
    if (version === 0) throw noRemote()
    const created = await askPortal(
      bus,
      (options) =>
        method(`${REMOTE}.CreateSession`, "a{sv}", [options.set("session_handle_token", text(nextToken()))]),
      deadline,
    )
    const session = textOf(created.get("session_handle"))
    // Since version 2, a user can consent once for all; a token works once.
    const consent = version >= 2 ? consentOptions(env) : []
    const types = { signature: "u", value: KEYBOARD | POINTER }
    const select = (options: Options) => {
      for (const [name, value] of consent) options.set(name, value)
      return method(`${REMOTE}.SelectDevices`, "oa{sv}", [session, options.set("types", types)])
    }
    await askPortal(bus, select, deadline)
    const start = (options: Options) => method(`${REMOTE}.Start`, "osa{sv}", [session, "", options])
    const started = await askPortal(bus, start, deadline)
    keepToken(env, started.get("restore_token"))
    return new PortalRemote(bus, session)
  } catch (error) {
    throw portalFailure(error)
  }
}

class PortalRemote implements DistanceRemote {
  readonly isOrdered = false
  readonly #bus: Bus
  readonly #session: string

  constructor(bus: Bus, session: string) {
    this.#bus = bus
    this.#session = session
  }

  async key(code: number, isDown: boolean, deadline: Deadline): Promise<void> {
    await this.#notify("NotifyKeyboardKeycode", "iu", [code, isDown ? 1 : 0], deadline)
  }

  async button(code: number, isDown: boolean, deadline: Deadline): Promise<void> {
    await this.#notify("NotifyPointerButton", "iu", [code, isDown ? 1 : 0], deadline)
  }

  async wheel(axis: Axis, steps: number, deadline: Deadline): Promise<void> {
    await this.#notify("NotifyPointerAxisDiscrete", "ui", [axis === "vertical" ? 0 : 1, steps], deadline)
  }

  async moveBy({ x, y }: Point, deadline: Deadline): Promise<void> {
    await this.#notify("NotifyPointerMotion", "dd", [x, y], deadline)
  }

  async close(deadline: Deadline): Promise<void> {
    await this.#bus.call(method("org.freedesktop.portal.Session.Close"), PORTAL, this.#session, deadline)
  }

  /** The portal handles calls in any order, so each call waits for the one before. */
  async #notify(
    member: string,
    signature: string,
    values: readonly Value[],
    deadline: Deadline,
  ): Promise<void> {
    const all = [this.#session, new Map(), ...values]
    await this.#bus.call(
      method(`${REMOTE}.${member}`, `oa{sv}${signature}`, all),
      PORTAL,
      PORTAL_PATH,
      deadline,
    )
  }
}

/** A consent that lasts until the user revokes it, and the token of the last session. */
function consentOptions(env: Env): readonly (readonly [string, Variant])[] {
  const token = readPrivateFile(tokenFile(env), MAX_TOKEN)
  const persist = ["persist_mode", { signature: "u", value: UNTIL_REVOKED }] as const
  return token ? [persist, ["restore_token", text(token)]] : [persist]
}

/** Each start gives a new token for the next one. */
function keepToken(env: Env, token: Value | undefined): void {
  if (typeof token !== "string" || token === "") return
  const path = tokenFile(env)
  const fresh = `${path}.${crypto.randomUUID()}`
  try {
    closeSync(openPrivateDirectory(stateRoot(env), "root"))
    writePrivateFile(fresh, new TextEncoder().encode(token))
    renameSync(fresh, path)
  } catch {
    // Without the token, the desktop asks again next time.
  }
}

const tokenFile = (env: Env): string => `${stateRoot(env)}/portal-consent`

function noRemote(): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", "The desktop portal takes no input from programs here", {
    suggestion:
      "Install xdg-desktop-portal and the part for this desktop, such as xdg-desktop-portal-kde, and log in again",
    disposition: NOTHING_DELIVERED,
  })
}

const REMOTE = "org.freedesktop.portal.RemoteDesktop"
const KEYBOARD = 1
const POINTER = 2
const UNTIL_REVOKED = 2
const MAX_TOKEN = 4096
