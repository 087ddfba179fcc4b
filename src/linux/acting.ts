import type { Action, Adapter, Handle, PlatformOptions, SeenApp, SeenWindow, WindowOp } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { Atspi } from "./atspi/atspi.ts"
import { Element } from "./atspi/element.ts"
import { perform } from "./atspi/perform.ts"
import { processStart } from "./host/processes.ts"
import type { Session } from "./host/session.ts"

type Acting = Pick<
  Required<Adapter>,
  | "perform"
  | "input"
  | "window"
  | "launch"
  | "quit"
  | "clipboard"
  | "displays"
  | "screenshot"
  | "notifications"
  | "unlistedNotifications"
  | "notification"
  | "desktops"
>

/** What changes the desktop, or takes its picture; each part is loaded when it is used. */
export function actingOn(
  session: Session,
  options: PlatformOptions,
  deadline: Deadline,
  windows: () => Promise<readonly SeenWindow[]>,
  takeTurn: () => Promise<void>,
): Acting {
  const display = () => preparing(session.x11(deadline))
  return {
    perform: async (handle: Handle, action: Action) => {
      // Where the keyboard goes is part of what others type.
      if (action.kind === "focus" && session.env.DISPLAY) await takeTurn()
      return perform(new Atspi(await session.a11y(deadline), deadline), Element.of(handle), action)
    },
    window: async (id, op) => {
      await takeTurn()
      return operate(session, id, op, deadline, windows)
    },
    launch: async (app, args) => {
      const { launchApp } = await import("./apps.ts")
      return preparing(launchApp(app, args, session.env, deadline))
    },
    quit: (app, force) => quit(session, app, force, deadline, windows),
    desktops: async (op) => (await import("./desktops/desktop.ts")).operateDesktops(options, op, deadline),
    input: async (event) => {
      await takeTurn()
      const [x, { sendInput }] = await Promise.all([display(), import("./x11/input.ts")])
      return sendInput(x, event, deadline)
    },
    clipboard: async (op) => {
      const [x, { operateClipboard }] = await Promise.all([display(), import("./x11/clipboard.ts")])
      return operateClipboard(x, op, session.env, deadline)
    },
    displays: async () => {
      const [x, { listDisplays }] = await Promise.all([session.x11(deadline), import("./x11/displays.ts")])
      return listDisplays(x, deadline)
    },
    screenshot: async (target) => {
      const [x, { takePicture }] = await Promise.all([session.x11(deadline), import("./x11/screenshot.ts")])
      return takePicture(x, target, deadline)
    },
    notifications: async () =>
      (await import("./notifications/notifications.ts")).listNotifications(session, deadline),
    unlistedNotifications: async () =>
      (await import("./notifications/notifications.ts")).countUnlisted(session, deadline),
    notification: async (target, op) =>
      (await import("./notifications/notifications.ts")).operateNotification(session, target, op, deadline),
  }
}

/** What fails before it has done anything. */
async function preparing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
  }
}

async function operate(
  session: Session,
  id: string,
  op: WindowOp,
  deadline: Deadline,
  windows: () => Promise<readonly SeenWindow[]>,
): Promise<SeenWindow> {
  const [x, { operateWindow }] = await Promise.all([
    preparing(session.x11(deadline)),
    import("./x11/window-ops.ts"),
  ])
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
  const own = force ? [] : (await preparing(windows())).filter((window) => window.pid === app.pid)
  if (own.length === 0) {
    const { quitProcess } = await import("./apps.ts")
    return preparing(Promise.try(quitProcess, app.pid, start ?? "", force))
  }
  const [x, { requestClose }] = await Promise.all([
    preparing(session.x11(deadline)),
    import("./x11/window-ops.ts"),
  ])
  for (const window of own) await requestClose(x, Number(window.id.slice(2)), deadline)
  return { method: "WM_DELETE_WINDOW" }
}
