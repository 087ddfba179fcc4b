import type { Deadline } from "../deadline.ts"
import type { Check, Permissions } from "../desktop.ts"
import { AppError, plainWord } from "../errors.ts"
import { Atspi } from "./atspi/atspi.ts"
import { unlessRefused } from "./atspi/element.ts"
import { listA11yApps } from "./atspi/registry.ts"
import { DBusError, DBusTimeout, method, readAs } from "./dbus/bus.ts"
import { type DesktopProgram, hasAccessibilityBus, installHint } from "./desktops/packages.ts"
import { bridges } from "./host/bridges.ts"
import { readProcess } from "./host/processes.ts"
import { A11Y_BUS, A11Y_BUS_PATH, type Session } from "./host/session.ts"
import { listWindows, readManager } from "./x11/windows.ts"

/** A link that hangs must leave time for the others. */
const LINK_MS = 1000

/** Tries every link between us and an app. */
export async function diagnose(
  session: Session,
  deadline: Deadline,
  gnomeExtension?: "install" | "remove",
): Promise<readonly Check[]> {
  const first = gnomeExtension ? [await changeExtension(session, gnomeExtension)] : []
  const { DISPLAY, WAYLAND_DISPLAY } = session.env
  const onX = DISPLAY || !WAYLAND_DISPLAY ? [display, manager, input] : []
  const onWayland = WAYLAND_DISPLAY ? [compositor] : []
  const links = [...onX, ...onWayland, sessionBus, accessibility, enabled, registry, applications]
  const checks = await Promise.all(links.map((link) => link(session, deadline.slice(LINK_MS))))
  return [...first, ...checks.flat(), ...parts(session), toolkits(session)]
}

async function changeExtension(session: Session, change: "install" | "remove"): Promise<Check> {
  const { installExtension, removeExtension } = await import("./wayland/gnome-extension.ts")
  const work = change === "install" ? installExtension : removeExtension
  return { name: "gnome_extension", ok: true, detail: await work(session.env) }
}

/** Linux has no permissions, only a switch for accessibility, which apps read when they start. */
export async function permissions(
  session: Session,
  request: boolean,
  deadline: Deadline,
): Promise<Permissions> {
  if (request) await enable(session, deadline)
  const patience = deadline.slice(deadline.remaining / 2)
  const [bus] = await registry(session, patience)
  const on = await isEnabled(session, deadline)
  // A bus that does not answer in time has not refused.
  const state = bus?.ok ? "granted" : patience.expired ? "unknown" : "denied"
  return {
    granted: bus?.ok ?? false,
    accessibility: {
      state,
      ...(state === "unknown" ? { suggestion: "The accessibility bus does not answer: run 'doctor'" } : {}),
      ...(state === "denied" ? { suggestion: bus?.suggestion ?? "Run 'doctor' to see what is missing" } : {}),
      ...(bus?.ok && on === false
        ? {
            suggestion: "Qt and Chromium apps expose nothing: run 'permissions --request', then restart them",
          }
        : {}),
    },
    screen_recording: { state: "not_required" },
  }
}

type Link = (session: Session, deadline: Deadline) => Promise<readonly Check[]>

const display: Link = async (session, deadline) => {
  const name = session.env.DISPLAY
  return attempt("display", NO_DISPLAY, async () => {
    const x = await session.x11(deadline)
    const { width, height } = x.setup.screen
    return `${name} ${width}x${height}`
  })
}

const NO_DISPLAY = "Start an X11 session, or an isolated one with 'agent-desktop desktop-start'"

/** Without a display, none of its parts helps. */
const displayHint = (session: Session, deadline: Deadline, hint: string): Promise<string> =>
  session.x11(deadline).then(
    () => hint,
    () => NO_DISPLAY,
  )

const compositor: Link = async (session, deadline) =>
  (await import("./wayland/diagnose.ts")).diagnoseWayland(
    session.env,
    { bus: (until) => session.user(until) },
    deadline,
  )

const manager: Link = async (session, deadline) =>
  attempt("window_manager", await displayHint(session, deadline, NO_MANAGER), async () => {
    const x = await session.x11(deadline)
    const found = await readManager(x, deadline)
    if (!found) throw new AppError("PLATFORM_NOT_SUPPORTED", "no window manager runs on this display")
    return `${(await listWindows(x, deadline)).length} windows`
  })

const NO_MANAGER = "Start a window manager, such as openbox"

const input: Link = async (session, deadline) =>
  attempt(
    "input",
    await displayHint(session, deadline, "Use an X server with the XTEST extension"),
    async () => {
      const x = await session.x11(deadline)
      if (!(await x.extension("XTEST", deadline)))
        throw new AppError("PLATFORM_NOT_SUPPORTED", "no XTEST extension")
      return "XTEST"
    },
  )

const sessionBus: Link = async (session, deadline) =>
  attempt("session_bus", NO_SESSION, async () => {
    const bus = await session.user(deadline)
    return `${await bus.name} at ${session.env.DBUS_SESSION_BUS_ADDRESS ?? "XDG_RUNTIME_DIR/bus"}`
  })

const NO_SESSION =
  "Run inside the desktop session, so that DBUS_SESSION_BUS_ADDRESS is set, or start an isolated desktop: agent-desktop desktop-start"

/** Without a session bus, no package helps. */
const accessibilityHint = (session: Session, deadline: Deadline): Promise<string> =>
  session.user(deadline).then(
    () => installHint(["org.a11y.Bus"]),
    () => NO_SESSION,
  )

const accessibility: Link = async (session, deadline) =>
  attempt("accessibility_bus", await accessibilityHint(session, deadline), async () => {
    const bus = await session.a11y(deadline)
    return bus.name
  })

const enabled: Link = async (session, deadline) => {
  const on = await isEnabled(session, deadline)
  return [
    {
      name: "accessibility_enabled",
      ok: on !== false,
      detail:
        on === undefined
          ? "unknown: the session bus does not report it"
          : on
            ? "apps are asked to expose their content"
            : "off",
      ...(on === false
        ? { suggestion: "agent-desktop permissions --request, then restart Qt and Chromium apps" }
        : {}),
    },
  ]
}

const registry: Link = async (session, deadline) =>
  attempt("registry", await accessibilityHint(session, deadline), async () => {
    const atspi = new Atspi(await session.a11y(deadline), deadline)
    return `${(await listA11yApps(atspi)).length} accessible apps`
  })

/** One check for each app: its toolkit, and whether it answers. */
const applications: Link = async (session, deadline) => {
  try {
    const atspi = new Atspi(await session.a11y(deadline), deadline)
    return await Promise.all(
      (await listA11yApps(atspi)).map(async (app) => {
        const toolkit = app.responsive ? await unlessRefused(atspi.toolkit(app.ref)) : undefined
        return {
          name: `app ${app.name || app.pid}`,
          ok: app.responsive,
          detail: [toolkit, `pid ${app.pid}`].filter(Boolean).join(", "),
          ...(app.responsive
            ? {}
            : {
                suggestion: `Wait until it answers, or end it: agent-desktop close-app ${plainWord(app.name || readProcess(app.pid)?.name)} --force`,
              }),
        }
      }),
    )
  } catch {
    // The check of the registry reports this failure.
    return []
  }
}

/** Programs that only `desktop-start` needs. */
function parts(session: Session): readonly Check[] {
  const programs: readonly DesktopProgram[] = ["Xvfb", "openbox", "dbus-daemon", "org.a11y.Bus"]
  const missing = programs.filter((program) =>
    program === "org.a11y.Bus"
      ? !hasAccessibilityBus(session.env)
      : !Bun.which(program, { PATH: session.env.PATH ?? "" }),
  )
  return [
    missing.length === 0
      ? { name: "isolated_desktops", ok: true, detail: programs.join(", ") }
      : {
          name: "isolated_desktops",
          ok: false,
          detail: `not installed: ${missing.join(", ")}`,
          suggestion: installHint(missing),
        },
  ]
}

/**
 * Old toolkits whose apps expose nothing without a bridge. Most machines have no such app, so a missing bridge is not a
 * fault.
 */
function toolkits({ env }: Session): Check {
  const missing = bridges(env)
    .filter(({ isInstalled }) => !isInstalled)
    .map(({ name }) => name)
  if (missing.length === 0)
    return {
      name: "old_toolkits",
      ok: true,
      detail: "newly launched GTK 2 and Java apps expose their content",
    }
  return {
    name: "old_toolkits",
    ok: true,
    detail: `not installed: ${missing.join(", ")}. Apps built with these toolkits expose nothing`,
    suggestion: `For such apps: ${installHint(missing)}, then launch them again`,
  }
}

async function attempt(
  name: string,
  suggestion: string,
  probe: () => Promise<string>,
): Promise<readonly Check[]> {
  try {
    return [{ name, ok: true, detail: await probe() }]
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const detail = (error instanceof AppError && error.platformDetail) || message
    return [{ name, ok: false, detail, suggestion }]
  }
}

async function isEnabled(session: Session, deadline: Deadline): Promise<boolean | undefined> {
  try {
    const bus = await session.user(deadline)
    const reply = readAs(await bus.call(GET_ENABLED, A11Y_BUS, A11Y_BUS_PATH, deadline), "v")
    return reply.signature() === "b" ? reply.bool() : undefined
  } catch {
    // The check of the session bus reports this failure; here the setting is unknown.
    return undefined
  }
}

async function enable(session: Session, deadline: Deadline): Promise<void> {
  try {
    const bus = await session.user(deadline)
    await bus.call(SET_ENABLED, A11Y_BUS, A11Y_BUS_PATH, deadline)
  } catch (error) {
    const code = error instanceof DBusTimeout ? "TIMEOUT" : "PLATFORM_NOT_SUPPORTED"
    throw new AppError(code, "Accessibility cannot be switched on in this session", {
      suggestion: installHint(["org.a11y.Bus"]),
      platformDetail: error instanceof DBusError ? `${error.code}: ${error.message}` : String(error),
    })
  }
}

const PROPERTIES = "org.freedesktop.DBus.Properties"
const GET_ENABLED = method(`${PROPERTIES}.Get`, "ss", ["org.a11y.Status", "IsEnabled"])
const SET_ENABLED = method(
  `${PROPERTIES}.Set`,
  "ssv",
  ["org.a11y.Status", "IsEnabled", { signature: "b", value: true }],
  true,
)
