import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { ownCommand } from "../../own-process.ts"
import { inTime } from "../../until.ts"
import { Bus, DBUS, DBUS_PATH, DBusTimeout, method, readAs } from "../dbus/bus.ts"
import { identify, isAlive } from "../host/processes.ts"
import { NOTIFICATIONS } from "../notifications/names.ts"
import { X11 } from "../x11/connection.ts"
import { EVENT, MASK, selectEvents } from "../x11/requests.ts"
import { managerAnswers, readManager } from "../x11/windows.ts"
import type { DesktopPart } from "./record.ts"

export interface PartSpec {
  readonly program: string
  /** The command; `FD` is replaced by the descriptor on which the program reports that it is ready. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly log: string
}

/** Starts a part of a desktop in its own session: it outlives this process, and Ctrl-C does not reach it. */
export function startPart(spec: PartSpec): DesktopPart {
  return launchPart(spec, "ignore").part
}

/** Starts a program that writes a line when it is ready; resolves with that line. */
export async function startAnnouncedPart(
  spec: PartSpec,
  started: (part: DesktopPart) => void,
  deadline: Deadline,
): Promise<string> {
  const { child, part } = launchPart(spec, "pipe")
  started(part)
  const fd = child.stdio[3]
  if (typeof fd !== "number") throw new AppError("INTERNAL", `No channel to ${spec.program}`)
  const reader = Bun.file(fd).stream().getReader()
  try {
    return await within(deadline, spec.program, firstLine(reader, spec))
  } finally {
    await reader.cancel()
    closeSync(fd)
  }
}

/** Fails with TIMEOUT if the deadline passes first or the work is cancelled. */
function within<T>({ remaining, signal }: Deadline, what: string, answer: Promise<T>): Promise<T> {
  const late = (): never => {
    throw new AppError(
      "TIMEOUT",
      `${what} did not start ${signal?.aborted ? "before the interruption" : "in time"}`,
      { details: { kind: "desktop" } },
    )
  }
  return inTime(answer, remaining, late, signal)
}

/** A new cookie, so that only users who can read the file can connect. */
export function writeCookie(path: string, cookie: Uint8Array, display: string): void {
  const field = (bytes: Uint8Array) => [bytes.length >> 8, bytes.length & 255, ...bytes]
  const text = (value: string) => field(new TextEncoder().encode(value))
  // Family 65535 matches every address, so the cookie survives a change of the host's name.
  const entry = [255, 255, ...text(""), ...text(display), ...text("MIT-MAGIC-COOKIE-1"), ...field(cookie)]
  writeFileSync(path, new Uint8Array(entry), { mode: 0o600 })
}

function launchPart(spec: PartSpec, channel: "ignore" | "pipe") {
  const log = openSync(spec.log, "a", 0o600)
  try {
    const child = Bun.spawn([...spec.command], {
      env: { ...spec.env },
      cwd: "/",
      stdio: ["ignore", log, log, channel],
      detached: true,
    })
    child.unref()
    const identity = identify(child.pid)
    if (!identity) throw failed(spec)
    return { child, part: { program: spec.program, ...identity } }
  } finally {
    closeSync(log)
  }
}

async function firstLine(reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> }, spec: PartSpec) {
  const decoder = new TextDecoder()
  for (let text = ""; ; ) {
    const { done, value } = await reader.read()
    text += decoder.decode(value, { stream: true })
    const end = text.indexOf("\n")
    if (end >= 0) return text.slice(0, end)
    // The program closed the channel without a line: it is dying, and its log says why.
    if (done) throw failed(spec)
  }
}

function failed({ program, log }: PartSpec): AppError {
  return new AppError("ACTION_FAILED", `${program} ended before it was ready`, {
    platformDetail: readFileSync(log, "utf8").trim().slice(-500) || undefined,
    details: { program },
    suggestion: "Run 'doctor' to see what this machine lacks",
  })
}

const WINDOW_MANAGERS = ["openbox", "xfwm4", "metacity"] as const
export type WindowManager = (typeof WINDOW_MANAGERS)[number]

/** The wanted window manager, or the first that is installed. */
export function chooseWindowManager(
  path: string | undefined,
  wanted?: WindowManager,
): WindowManager | undefined {
  return (wanted ? [wanted] : WINDOW_MANAGERS).find((name) => Bun.which(name, { PATH: path }))
}

export function windowManagerCommand(name: WindowManager, directory: string): readonly string[] {
  switch (name) {
    case "openbox":
      writeFileSync(`${directory}/openbox.xml`, OPENBOX)
      return ["openbox", "--sm-disable", "--config-file", `${directory}/openbox.xml`]
    case "xfwm4":
      return ["xfwm4", "--sm-client-disable", "--compositor=off"]
    case "metacity":
      return ["metacity", "--sm-disable", "--no-composite"]
    default:
      return name satisfies never
  }
}

/** Resolves when the window manager manages the display's windows. */
export async function windowManagerReady(
  part: DesktopPart,
  env: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<void> {
  const x = await X11.connect(env, deadline)
  try {
    using changes = x.listen(({ code }) => code === EVENT.propertyNotify)
    x.send(selectEvents(x.root, MASK.property))
    while (!(await readManager(x, deadline))) {
      if (!isAlive(part)) throw new AppError("ACTION_FAILED", `${part.program} ended before it was ready`)
      // A short slice, because its death changes nothing on the display.
      await changes.next(deadline.slice(LOOK_AGAIN_MS))
    }
    // It announces itself before it listens, and a window that opens in between stays unmanaged.
    if (!(await managerAnswers(x, deadline))) {
      throw new AppError("TIMEOUT", `${part.program} did not answer in time`, {
        details: { kind: "desktop" },
      })
    }
  } finally {
    x.close()
  }
}

const LOOK_AGAIN_MS = 100

const mouse = (context: string, ...bindings: string[]) =>
  `<context name="${context}">${bindings.join("")}</context>`
const on = (button: string, action: string, ...actions: string[]) =>
  `<mousebind button="${button}" action="${action}">${actions.map((name) => `<action name="${name}"/>`).join("")}</mousebind>`
const edge = (context: string, side: string) =>
  mouse(
    context,
    `<mousebind button="Left" action="Drag"><action name="Resize"><edge>${side}</edge></action></mousebind>`,
  )
const key = (combo: string, action: string) => `<keybind key="${combo}"><action name="${action}"/></keybind>`

/**
 * Windows that behave as on any desktop, and nothing else. Openbox's own configuration has four workspaces,
 * switches between them when the wheel turns over the background, and binds keys that start programs.
 */
const OPENBOX = `<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
<placement><policy>Smart</policy></placement>
<theme><name>Clearlooks</name><titleLayout>NLIMC</titleLayout><animateIconify>no</animateIconify></theme>
<desktops><number>1</number><popupTime>0</popupTime></desktops>
<keyboard>${key("A-F4", "Close")}${key("A-Tab", "NextWindow")}</keyboard>
<mouse><doubleClickTime>500</doubleClickTime>
${mouse("Frame", on("A-Left", "Press", "Focus", "Raise"), on("A-Left", "Drag", "Move"))}
${mouse("Titlebar", on("Left", "Drag", "Move"), on("Left", "DoubleClick", "ToggleMaximize"))}
${mouse("Titlebar Top Right Bottom Left TLCorner TRCorner BRCorner BLCorner", on("Left", "Press", "Focus", "Raise"))}
${edge("Top", "top")}${edge("Left", "left")}${edge("Right", "right")}${edge("Bottom", "bottom")}
${mouse("TLCorner TRCorner BRCorner BLCorner", on("Left", "Drag", "Resize"))}
${mouse("Client", ...["Left", "Middle", "Right"].map((button) => on(button, "Press", "Focus", "Raise")))}
${mouse("Maximize", on("Left", "Press", "Focus", "Raise"), on("Left", "Click", "ToggleMaximize"))}
${mouse("Iconify", on("Left", "Press", "Focus", "Raise"), on("Left", "Click", "Iconify"))}
${mouse("Close", on("Left", "Press", "Focus", "Raise"), on("Left", "Click", "Close"))}
</mouse>
</openbox_config>
`

const LAUNCHER = "org.a11y.Bus"
const LAUNCHER_PATH = "/org/a11y/bus"

/**
 * Starts the accessibility bus of a session. Asking for its address starts it and publishes it on the root
 * window, where Qt 5 looks; Qt 6 and Chromium look at IsEnabled.
 */
export async function startAccessibility(session: string, deadline: Deadline): Promise<void> {
  try {
    await startRegistry(await startBus(session, deadline), deadline)
  } catch (error) {
    throw new AppError(
      error instanceof DBusTimeout ? "TIMEOUT" : "ACTION_FAILED",
      "The accessibility bus did not start",
      { platformDetail: String(error), suggestion: "Run 'doctor' to see what this machine lacks" },
    )
  }
}

async function startBus(session: string, deadline: Deadline): Promise<string> {
  const bus = await Bus.open(session, deadline)
  try {
    const [address] = await Promise.all([
      bus.call(method("org.a11y.Bus.GetAddress", "", [], true), LAUNCHER, LAUNCHER_PATH, deadline),
      bus.call(ENABLE, LAUNCHER, LAUNCHER_PATH, deadline),
    ])
    return readAs(address, "s").string()
  } finally {
    bus.close()
  }
}

const ENABLE = method(
  "org.freedesktop.DBus.Properties.Set",
  "ssv",
  ["org.a11y.Status", "IsEnabled", { signature: "b", value: true }],
  true,
)

/** Starts the registry. Otherwise the first application would, and until then the list of applications is unavailable. */
async function startRegistry(address: string, deadline: Deadline): Promise<void> {
  const bus = await Bus.open(address, deadline)
  try {
    await bus.call(START_REGISTRY, DBUS, DBUS_PATH, deadline)
  } finally {
    bus.close()
  }
}

const START_REGISTRY = method(`${DBUS}.StartServiceByName`, "su", ["org.a11y.atspi.Registry", 0])

/**
 * Lets the session bus of a desktop start our notification daemon on demand. A bus looks in XDG_RUNTIME_DIR first,
 * so ours wins over daemons installed on the machine.
 */
export function offerNotifications(runtime: string): void {
  const directory = `${runtime}/dbus-1/services`
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const command = ownCommand("__notification-daemon").map(quote).join(" ")
  const lines = ["[D-BUS Service]", `Name=${NOTIFICATIONS}`, `Exec=${command.replaceAll("\\", "\\\\")}`, ""]
  writeFileSync(`${directory}/${NOTIFICATIONS}.service`, lines.join("\n"), { mode: 0o600 })
}

/** Quotes a word as a shell reads it. */
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`
