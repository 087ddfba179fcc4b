import { mkdirSync, writeFileSync } from "node:fs"
import { NOTIFICATIONS } from "./notification-names.ts"
import { ownCommand } from "./own-command.ts"

/**
 * Lets the session bus of a desktop start our notification daemon when something asks for one. Below
 * XDG_RUNTIME_DIR a bus looks first, so whatever else is installed on the machine comes after it.
 */
export function offerNotifications(runtime: string): void {
  const directory = `${runtime}/dbus-1/services`
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const command = ownCommand("__notification-daemon").map(quote).join(" ")
  const lines = ["[D-BUS Service]", `Name=${NOTIFICATIONS}`, `Exec=${command.replaceAll("\\", "\\\\")}`, ""]
  writeFileSync(`${directory}/${NOTIFICATIONS}.service`, lines.join("\n"), { mode: 0o600 })
}

/** As a shell would read it. */
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`
