import type { NotificationOp, SeenNotification } from "../desktop.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { pause } from "../until.ts"
import { processOf } from "./apps.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean } from "./cf.ts"
import { deliveryOf, Failure, refused } from "./failure.ts"
import { roleOf } from "./roles.ts"
import { asElement, asElements, asFlag, asText, asWords, type Element } from "./value.ts"

/** Names that Notification Center uses in its accessibility tree. They change between releases of macOS. */
const LOOKS = {
  center: "NotificationCenter",
  /** A stack shows the newest notification of an app and stands for all of them. */
  notifications: new Set([
    "AXNotificationCenterBanner",
    "AXNotificationCenterAlert",
    "AXNotificationCenterBannerStack",
    "AXNotificationCenterAlertStack",
  ]),
  title: new Set(["title", "header"]),
  body: new Set(["body", "subtitle"]),
  /** "Close" and "Clear" in the languages of macOS: a notification has no other sign of these actions. */
  dismiss: [
    ...["Close", "Clear", "Clear All", "AXDismiss", "AXRemoveFromParent"],
    ...["Schließen", "Löschen", "Entfernen", "Alle löschen", "Alle entfernen"],
    ...["Fermer", "Effacer", "Tout effacer"],
    ...["Cerrar", "Borrar", "Borrar todo", "Eliminar"],
    ...["Chiudi", "Cancella", "Cancella tutto", "Rimuovi"],
    ...["Fechar", "Limpar", "Limpar Tudo", "Limpar tudo"],
    ...["Sluit", "Wis", "Wis alles"],
    ...["Stäng", "Rensa", "Rensa alla"],
    ...["Luk", "Ryd", "Ryd alle", "Lukk", "Fjern", "Fjern alle", "Sulje", "Tyhjennä", "Tyhjennä kaikki"],
    ...["Zamknij", "Wymaż", "Wyczyść", "Zavřít", "Vymazat", "Zatvoriť", "Vymazať", "Bezárás", "Törlés"],
    ...["Закрыть", "Очистить", "Очистить все", "Закрити", "Очистити", "Kapat", "Temizle", "Sil"],
    ...["閉じる", "消去", "すべて消去", "닫기", "지우기", "모두 지우기"],
    ...["关闭", "清除", "清除全部", "全部清除", "關閉", "清除所有"],
  ],
  /** The clock in the menu bar opens and closes Notification Center. */
  opener: { process: "ControlCenter", identifier: "com.apple.menuextra.clock" },
} as const

const OPEN_MS = 1500
const LOOK_MS = 50
const MOST_NODES = 2048

interface ShownNotification extends SeenNotification {
  readonly element: Element
}

export async function listNotifications(ax: Ax): Promise<readonly SeenNotification[]> {
  return withCenter(ax, (shown) => shown.map(({ element: _, ...notification }) => notification))
}

/** Acts on the notification with the same id, even if its place in the list has changed. */
export async function actOnNotification(ax: Ax, target: SeenNotification, op: NotificationOp): Promise<void> {
  await withCenter(ax, (shown) => {
    const found = shown.find(({ id }) => id === target.id)
    if (!found) {
      throw new AppError("NOTIFICATION_NOT_FOUND", `Notification ${target.index} no longer exists`, {
        suggestion: "Use 'list-notifications' to see the current ones",
        disposition: NOTHING_DELIVERED,
      })
    }
    const wanted = op.kind === "dismiss" ? LOOKS.dismiss : [op.action]
    const offered = offersOf(ax, found.element)
    const offer = wanted.flatMap((name) => offered.find((one) => one.name === name) ?? [])[0]
    if (!offer) {
      throw new AppError(
        "ACTION_NOT_SUPPORTED",
        `Notification ${target.index} has no action '${op.kind === "dismiss" ? "Close" : op.action}'`,
        {
          suggestion: offered.length > 0 ? "Use one of details.candidates" : "Use 'dismiss-notification'",
          details: { candidates: offered.map(({ name }) => name) },
          disposition: NOTHING_DELIVERED,
        },
      )
    }
    const code = ax.perform(offer.element, offer.action)
    if (deliveryOf(code) === "not_delivered") throw refused(`'${offer.name}'`, code)
  })
}

/** Opens Notification Center if no notification is visible, and closes it again afterwards. */
async function withCenter<T>(ax: Ax, use: (shown: readonly ShownNotification[]) => T): Promise<T> {
  const pid = processOf(LOOKS.center)
  if (pid === undefined) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", "Notification Center is not running", {
      suggestion: "Log in at the screen, then retry",
    })
  }
  const visible = read(ax, pid)
  if (visible.length > 0) return use(visible)
  const clock = findClock(ax)
  if (!clock) return use([])
  const front = asElement(ax.get(ax.connection.system, "AXFocusedApplication"))
  ax.perform(clock, "AXPress")
  try {
    const end = ax.deadline.slice(OPEN_MS)
    let shown = read(ax, pid)
    for (; shown.length === 0 && !end.expired; shown = read(ax, pid)) await pause(LOOK_MS, end)
    return use(shown)
  } finally {
    if (!ax.deadline.expired) {
      ax.perform(clock, "AXPress")
      // The clock may have taken the keyboard from the app that the user works with.
      if (front && asFlag(ax.get(front, "AXFrontmost")) === false)
        ax.set(front, "AXFrontmost", cfBoolean(true))
    }
  }
}

function findClock(ax: Ax): Element | undefined {
  const pid = processOf(LOOKS.opener.process)
  const bar = pid === undefined ? undefined : asElement(ax.get(ax.connection.app(pid), "AXExtrasMenuBar"))
  const items = bar ? asElements(ax.get(bar, "AXChildren")) : []
  return items.find((item) => asText(ax.get(item, "AXIdentifier")) === LOOKS.opener.identifier)
}

/** Reads the visible notifications, each a group of static texts. */
function read(ax: Ax, pid: number): ShownNotification[] {
  const queue = [...asElements(ax.get(ax.connection.app(pid), "AXWindows"))]
  const shown: ShownNotification[] = []
  for (let at = 0; at < queue.length && at < MOST_NODES; at++) {
    const element = queue[at]!
    const look = ax.read(element, ["AXSubrole", "AXDescription", "AXIdentifier", "AXChildren"])
    if (look instanceof Failure) continue
    if (LOOKS.notifications.has(asText(look.AXSubrole) ?? "")) {
      shown.push(
        describe(ax, element, asText(look.AXDescription) ?? "", asWords(look.AXIdentifier), shown.length),
      )
    } else {
      queue.push(...asElements(look.AXChildren))
    }
  }
  return shown
}

function describe(
  ax: Ax,
  element: Element,
  description: string,
  identifier: string | undefined,
  index: number,
): ShownNotification {
  const texts = asElements(ax.get(element, "AXChildren")).flatMap((child) => {
    const look = ax.read(child, ["AXRole", "AXSubrole", "AXIdentifier", "AXValue"])
    if (look instanceof Failure || roleOf(asText(look.AXRole), asText(look.AXSubrole)) !== "statictext")
      return []
    return [{ kind: asText(look.AXIdentifier) ?? "", text: asText(look.AXValue) ?? "" }]
  })
  const title = texts.find(({ kind }) => LOOKS.title.has(kind)) ?? texts[0]
  const bodies = texts.filter((text) => text !== title && (LOOKS.body.has(text.kind) || text.kind === ""))
  const body = bodies.map(({ text }) => text).join("\n")
  // The description is the name of the app, a comma, and the texts.
  const before = title ? description.indexOf(`, ${title.text}`) : -1
  const app_name = before > 0 ? description.slice(0, before) : ""
  const actions = offersOf(ax, element).flatMap(({ name }) => (name.startsWith("AX") ? [] : [name]))
  return {
    index,
    app_name,
    title: title?.text ?? "",
    ...(body ? { body } : {}),
    ...(actions.length > 0 ? { actions } : {}),
    id: identifier ?? `${app_name}\n${title?.text ?? ""}\n${body}`,
    element,
  }
}

/** The actions of a notification. Custom ones are called `Name:Close`, a newline and more; buttons inside count too. */
function offersOf(
  ax: Ax,
  element: Element,
): { readonly name: string; readonly element: Element; readonly action: string }[] {
  const offered = ax.actions(element)
  const own = [...(offered instanceof Failure ? [] : offered)].map((action) => ({
    name: action.match(/^Name:([^\n]*)/)?.[1] ?? (action === "AXPress" ? "Open" : action),
    element,
    action,
  }))
  const buttons = asElements(ax.get(element, "AXChildren")).flatMap((child) => {
    const look = ax.read(child, ["AXRole", "AXTitle", "AXDescription"])
    const name =
      look instanceof Failure || look.AXRole !== "AXButton"
        ? undefined
        : (asWords(look.AXTitle) ?? asWords(look.AXDescription))
    return name ? [{ name, element: child, action: "AXPress" }] : []
  })
  return [...own, ...buttons]
}
