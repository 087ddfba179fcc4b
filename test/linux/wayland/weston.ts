import { existsSync } from "node:fs"
import { runProgram, type TestDesktop } from "../../support/desktop.ts"
import { until } from "../../support/until.ts"

/**
 * The same desktop under weston, a compositor that reports nothing to programs. Apps get its socket instead of the X
 * display, and the buses of the desktop. With `withX`, they get the X display as well.
 */
export async function underWeston(desktop: TestDesktop, withX = false): Promise<TestDesktop> {
  const socket = `${desktop.env.XDG_RUNTIME_DIR}/weston`
  if (!existsSync(socket)) {
    desktop.spawnApp([
      "weston",
      "--backend=headless-backend.so",
      "--width=1280",
      "--height=1024",
      "--idle-time=0",
      "--socket=weston",
    ])
    await until(async () => existsSync(socket))
  }
  const { DISPLAY, ...rest } = desktop.env
  const env = {
    ...rest,
    ...(withX && DISPLAY ? { DISPLAY } : {}),
    WAYLAND_DISPLAY: "weston",
    GDK_BACKEND: "wayland",
    QT_QPA_PLATFORM: "wayland",
  }
  const unset = withX ? {} : { DISPLAY: "" }
  return {
    ...desktop,
    env,
    spawnApp: (command, options) =>
      desktop.spawnApp(command, { ...options, env: { ...env, ...unset, ...options?.env } }),
    run: (...args) => runProgram(args, env),
  }
}
