import type { Action, Adapter, Handle, SeenApp, SeenWindow, WindowOp } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { PlatformOptions } from "../platform.ts"
import { launchApp, quitProcess } from "./apps.ts"
import { Atspi } from "./atspi.ts"
import { operateDesktops } from "./desktops.ts"
import { Element } from "./element.ts"
import { perform } from "./perform.ts"
import { processStart } from "./processes.ts"
import type { Session } from "./session.ts"
import { answering } from "./trees.ts"
import { operateWindow, requestClose } from "./x11-window-ops.ts"

type Acting = Pick<
  Adapter,
  | "perform"
  | "input"
  | "window"
  | "launch"
  | "quit"
  | "clipboard"
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
    input: notYet,
    clipboard: notYet,
    screenshot: notYet,
    notifications: notYet,
    notification: notYet,
  }
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
