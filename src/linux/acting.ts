import type {
  Action,
  Adapter,
  Handle,
  InputEvent,
  Picture,
  ScreenshotTarget,
  SeenApp,
  SeenWindow,
  WindowOp,
} from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Rect } from "../node.ts"
import type { PlatformOptions } from "../platform.ts"
import { launchApp, quitProcess } from "./apps.ts"
import { Atspi } from "./atspi.ts"
import { operateDesktops } from "./desktops.ts"
import { Element } from "./element.ts"
import { perform } from "./perform.ts"
import { processStart } from "./processes.ts"
import type { Session } from "./session.ts"
import { answering } from "./trees.ts"
import type { X11 } from "./x11.ts"
import { listDisplays } from "./x11-displays.ts"
import { clickPointer, dragPointer, movePointer, pressButton, turnWheel } from "./x11-pointer.ts"
import { takeScreenshot } from "./x11-screenshot.ts"
import { operateWindow, requestClose } from "./x11-window-ops.ts"

type Acting = Pick<
  Adapter,
  | "perform"
  | "input"
  | "window"
  | "launch"
  | "quit"
  | "clipboard"
  | "displays"
  | "screenshot"
  | "notifications"
  | "notification"
  | "desktops"
>

/** What changes the desktop, or takes its picture. */
export function actingOn(
  session: Session,
  options: PlatformOptions,
  deadline: Deadline,
  windows: () => Promise<readonly SeenWindow[]>,
): Acting {
  return {
    perform: (handle: Handle, action: Action) => {
      const element = Element.of(handle)
      return answering(
        element.place,
        session.a11y(deadline).then((bus) => perform(new Atspi(bus, deadline), element, action)),
      )
    },
    window: (id, op) => operate(session, id, op, deadline, windows),
    launch: (app, args) => launchApp(app, args, session.env, deadline),
    quit: (app, force) => quit(session, app, force, deadline, windows),
    desktops: (op) => operateDesktops(options, op, deadline),
    input: async (event) => sendInput(await session.x11(deadline), event, deadline),
    clipboard: notYet,
    displays: async () => listDisplays(await session.x11(deadline), deadline),
    screenshot: (target) => screenshot(session, target, deadline),
    notifications: async () => (await import("./notifications.ts")).listNotifications(session, deadline),
    notification: async (target, op) =>
      (await import("./notifications.ts")).operateNotification(session, target, op, deadline),
  }
}

async function sendInput(x: X11, event: InputEvent, deadline: Deadline): Promise<void> {
  switch (event.kind) {
    case "move":
      return movePointer(x, event, deadline)
    case "click":
      return clickPointer(x, event, deadline)
    case "button":
      return pressButton(x, event, deadline)
    case "wheel":
      return turnWheel(x, event, deadline)
    case "drag":
      return dragPointer(x, event, deadline)
    case "key":
    case "text":
      return notYet()
    default:
      return event satisfies never
  }
}

async function screenshot(session: Session, target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
  const x = await session.x11(deadline)
  return takeScreenshot(x, await areaOf(x, target, deadline), deadline)
}

async function areaOf(x: X11, target: ScreenshotTarget, deadline: Deadline): Promise<Rect> {
  const { width, height } = x.setup.screen
  const whole = { x: 0, y: 0, width, height }
  if (target.kind === "window") return target.window.bounds ?? whole
  if (target.index === undefined) return whole
  const displays = await listDisplays(x, deadline)
  const display = displays[target.index]
  if (display) return display.bounds
  throw new AppError("INVALID_ARGS", `There is no display ${target.index}; there are ${displays.length}`, {
    suggestion: "Use 'list-displays' to see them; the first is 0",
  })
}

async function operate(
  session: Session,
  id: string,
  op: WindowOp,
  deadline: Deadline,
  windows: () => Promise<readonly SeenWindow[]>,
): Promise<SeenWindow> {
  const x = await session.x11(deadline)
  await operateWindow(x, Number(id.slice(2)), op, deadline)
  const after = (await windows()).find((window) => window.id === id)
  if (after) return after
  throw new AppError("WINDOW_NOT_FOUND", `Window '${id}' closed while it was operated on`, {
    suggestion: "Use 'list-windows' to see available windows",
  })
}

/** Its windows are asked to close, as a user would; a process without windows is asked itself. */
async function quit(
  session: Session,
  app: SeenApp,
  force: boolean,
  deadline: Deadline,
  windows: () => Promise<readonly SeenWindow[]>,
): Promise<{ readonly method: string }> {
  const start = processStart(app.pid)
  const own = force ? [] : (await windows()).filter((window) => window.pid === app.pid)
  if (own.length === 0) return quitProcess(app.pid, start ?? "", force)
  const x = await session.x11(deadline)
  for (const window of own) await requestClose(x, Number(window.id.slice(2)), deadline)
  return { method: "WM_DELETE_WINDOW" }
}

async function notYet(): Promise<never> {
  throw new AppError("PLATFORM_NOT_SUPPORTED", "This is not available on Linux yet")
}
