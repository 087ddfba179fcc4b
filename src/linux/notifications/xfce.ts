import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { isSameRect } from "../../rect.ts"
import { pause } from "../../until.ts"
import { Atspi, existing, REGISTRY, type Ref, refKey } from "../atspi/atspi.ts"
import { has, STATE } from "../atspi/bits.ts"
import { ROLE } from "../atspi/roles.ts"
import { DBUS, DBUS_PATH, DBusError, method, readAs } from "../dbus/bus.ts"
import { clickPointer, movePointer } from "../x11/pointer.ts"
import { queryPointer } from "../x11/requests.ts"
import { windowAt } from "../x11/windows.ts"
import { hear } from "./heard.ts"
import { type Entry, type NotificationDaemon, notificationGone } from "./names.ts"
import { lines, oneLine } from "./text.ts"

/**
 * Lists the popups of xfce4-notifyd, which are accessible windows of title, body and buttons. Neither they nor the daemon
 * say which app sent them: its interfaces on the bus list nothing, and its log is off by default. The app is known only
 * for popups that were sent while this process lives.
 */
export async function listXfce(daemon: NotificationDaemon): Promise<readonly Entry[]> {
  const { session, owner, deadline } = daemon
  // Listen first: a notification sent from now on shows later, and can be distinguished from older ones.
  const heard = await hear(session, deadline)
  const atspi = new Atspi(await session.a11y(deadline), deadline)
  const popups = await readPopups(atspi, daemon)
  const known = earlier.get(heard) ?? new Set(popups.map(({ frame }) => refKey(frame)))
  earlier.set(heard, known)
  return popups.flatMap((popup): Entry[] => {
    const { frame, title, body, buttons } = popup
    const sent = [...heard.showing(owner).values()].filter((one) => one.title === title)
    // A popup shows a moment after it was sent: this one was sent before we listened.
    if (sent.length === 0 && !known.has(refKey(frame)) && heard.isYoung) return []
    const [app = "", ...others] = new Set(sent.map((one) => one.app))
    return [
      {
        id: `${owner} ${refKey(frame)} ${contentOf(popup)}`,
        app_name: others.length === 0 ? app : "",
        title,
        ...(body ? { body } : {}),
        ...(buttons.size > 0 ? { actions: [...buttons.keys()] } : {}),
        dismiss: () => dismiss(atspi, daemon, popup),
        press: (action) => press(atspi, popup, action),
      },
    ]
  })
}

/** The popups from before this process began to listen. */
const earlier = new WeakMap<object, ReadonlySet<string>>()

interface Popup {
  readonly frame: Ref
  readonly title: string
  readonly body: string
  readonly buttons: ReadonlyMap<string, Ref>
}

const contentOf = ({ title, body }: Popup): string => JSON.stringify([title, body])

/** The newest first. */
async function readPopups(atspi: Atspi, daemon: NotificationDaemon): Promise<readonly Popup[]> {
  const app = await findApp(atspi, daemon)
  if (!app) {
    throw new AppError(
      "PLATFORM_NOT_SUPPORTED",
      "xfce4-notifyd hides its popups: it runs without accessibility",
      {
        suggestion: "Restart xfce4-notifyd with the accessibility bus running and NO_AT_BRIDGE unset",
      },
    )
  }
  const frames = (await atspi.children(app)).map(existing).filter((ref) => ref !== undefined)
  const popups = await Promise.all(frames.map((frame) => unlessGone(readPopup(atspi, frame))))
  return popups.filter((popup) => popup !== undefined).reverse()
}

async function findApp(atspi: Atspi, { bus, owner, deadline }: NotificationDaemon): Promise<Ref | undefined> {
  const asked = method(`${DBUS}.GetConnectionUnixProcessID`, "s", [owner])
  const pid = readAs(await bus.call(asked, DBUS, DBUS_PATH, deadline), "u").u32()
  const apps = (await atspi.children(REGISTRY)).map(existing).filter((ref) => ref !== undefined)
  const pids = await Promise.all(apps.map((app) => unlessGone(atspi.pid(app.bus))))
  return apps.find((_, index) => pids[index] === pid)
}

async function readPopup(atspi: Atspi, frame: Ref): Promise<Popup | undefined> {
  const [states, attributes] = await Promise.all([atspi.states(frame), atspi.attributes(frame)])
  if (!has(states, STATE.SHOWING) || attributes.get("window-type") !== "notification") return undefined
  const nodes = await readNodes(atspi, frame, MAX_DEPTH)
  // Title and body are labels, even if one of them is empty and hidden.
  const [title = "", body = ""] = nodes.flatMap(({ role, name }) => (role === ROLE.LABEL ? name : []))
  const buttons = nodes.filter(({ role, name }) => role === ROLE.PUSH_BUTTON && name)
  return { frame, title: oneLine(title), body: lines(body), buttons: new Map(buttons.map(nameButton)) }
}

interface PopupPart {
  readonly ref: Ref
  readonly role: number
  readonly name: string
}

/** All descendants in order, except those inside a button. */
async function readNodes(atspi: Atspi, parent: Ref, depth: number): Promise<readonly PopupPart[]> {
  const children = (await atspi.children(parent)).map(existing).filter((ref) => ref !== undefined)
  const below = children.map(async (ref) => {
    const [role, name] = await Promise.all([atspi.role(ref), atspi.name(ref)])
    const rest = role === ROLE.PUSH_BUTTON || depth === 0 ? [] : await readNodes(atspi, ref, depth - 1)
    return [{ ref, role, name }, ...rest]
  })
  return (await Promise.all(below)).flat()
}

const MAX_DEPTH = 6

/** Buttons of the same name are numbered in order. */
function nameButton({ ref, name }: PopupPart, index: number, all: readonly PopupPart[]): [string, Ref] {
  const same = all.slice(0, index).filter((other) => other.name === name).length
  return [same === 0 ? oneLine(name) : `${oneLine(name)} (${same + 1})`, ref]
}

/** A changed notification gets new buttons, so a press hits this notification or none. */
async function press(atspi: Atspi, { title, buttons }: Popup, action: string): Promise<void> {
  const ref = buttons.get(action)
  const click = ref && (await unlessGone(atspi.actionNames(ref)))?.indexOf("click")
  if (!ref || click === undefined || click < 0) throw notificationGone({ title })
  await atspi.call(ref, method("org.a11y.atspi.Action.DoAction", "i", [click]))
}

/** Clicks on the margin, as a user would: the daemon has no other way. Links and buttons are further in. */
async function dismiss(atspi: Atspi, daemon: NotificationDaemon, popup: Popup): Promise<void> {
  const { session, deadline } = daemon
  const x = await session.x11(deadline)
  const rect = await atspi.extents(popup.frame)
  const at = { x: rect.x + Math.floor(rect.width / 2), y: rect.y + MARGIN }
  const [{ at: pointer }, top] = await Promise.all([queryPointer(x, deadline), windowAt(x, at, deadline)])
  if (!top || !isSameRect(top.bounds, rect)) {
    throw new AppError(
      "ACTION_FAILED",
      `The notification '${popup.title}' is covered by ${top ? `'${top.title}'` : "nothing that could be clicked"}`,
      {
        suggestion: "See what is in its way: agent-desktop screenshot screen.png",
        disposition: NOTHING_DELIVERED,
      },
    )
  }
  await clickPointer(x, { kind: "click", at, button: "left", count: 1 }, deadline)
  await movePointer(x, { kind: "move", at: pointer }, deadline)
  const patience = deadline.slice(GOING_MS)
  while (await isShowing(atspi, popup)) {
    if (patience.expired)
      throw new AppError("ACTION_FAILED", `The notification '${popup.title}' was clicked and still shows`, {
        disposition: { delivery: "delivered_unverified", retry: "safe" },
      })
    await pause(LOOK_AGAIN_MS, patience)
  }
}

/** From the upper edge; the texts begin at 14. */
const MARGIN = 5
const GOING_MS = 2000
const LOOK_AGAIN_MS = 10

async function isShowing(atspi: Atspi, { frame }: Popup): Promise<boolean> {
  const states = await unlessGone(atspi.states(frame))
  return states !== undefined && has(states, STATE.SHOWING) && !has(states, STATE.DEFUNCT)
}

/** undefined for an object or app that is gone: popups come and go. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof DBusError) return undefined
    throw error
  }
}
