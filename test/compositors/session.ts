import { copyFileSync, existsSync } from "node:fs"
import { runProgram, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** A test's desktop under another compositor: apps get its socket instead of the X display, the buses stay. */
export async function underCompositor(
  desktop: TestDesktop,
  { socket, command, env: more = {} }: CompositorSpec,
): Promise<TestDesktop> {
  const { DISPLAY: _, ...rest } = desktop.env
  const own = { ...rest, XDG_SESSION_TYPE: "wayland", ...more }
  desktop.spawnApp(command, { env: { ...own, DISPLAY: "", WAYLAND_DISPLAY: "", QT_QPA_PLATFORM: "" } })
  await until(async () => existsSync(`${desktop.env.XDG_RUNTIME_DIR}/${socket}`), 30_000)
  const env = { ...own, WAYLAND_DISPLAY: socket, GDK_BACKEND: "wayland", QT_QPA_PLATFORM: "wayland" }
  // Services that the bus starts later, such as the portal, are clients of the compositor as well.
  const shared = [
    "WAYLAND_DISPLAY",
    "XDG_CURRENT_DESKTOP",
    "XDG_RUNTIME_DIR",
    "QT_QPA_PLATFORM",
    "GDK_BACKEND",
  ]
  await Bun.$`dbus-update-activation-environment ${shared}`.env(env).quiet()
  return {
    ...desktop,
    env,
    spawnApp: (args, options) =>
      desktop.spawnApp(args, { ...options, env: { ...env, DISPLAY: "", ...options?.env } }),
    run: (...args) => runProgram(args, env),
  }
}

interface CompositorSpec {
  /** The name of its socket in the runtime directory. */
  readonly socket: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** KWin without a screen, and the portal of KDE. */
export async function underKWin(desktop: TestDesktop): Promise<TestDesktop> {
  // The installed file has a capability that a container cannot grant. A copy has none.
  const program = `${desktop.directory}/kwin_wayland`
  copyFileSync("/usr/bin/kwin_wayland", program)
  const size = ["--width", "1280", "--height", "1024"]
  const kwin = await underCompositor(desktop, {
    socket: "kwin",
    command: [program, "--virtual", ...size, "--no-lockscreen", "--socket", "kwin"],
    env: { XDG_CURRENT_DESKTOP: "KDE" },
  })
  await until(() => hasName(kwin, "org.kde.KWin"), 30_000)
  // The portal brings the pointer and the keyboard of the seat, which a real desk has anyway.
  const version = ["org.freedesktop.DBus.Properties.Get", "org.freedesktop.portal.RemoteDesktop", "version"]
  const portal = [
    "--dest",
    "org.freedesktop.portal.Desktop",
    "--object-path",
    "/org/freedesktop/portal/desktop",
  ]
  await until(
    async () =>
      (await Bun.$`gdbus call --session ${portal} --method ${version}`.env(kwin.env).nothrow().quiet())
        .exitCode === 0,
    30_000,
  )
  await until(() => hasName(kwin, "org.freedesktop.impl.portal.desktop.kde"), 30_000)
  return kwin
}

/** GNOME Shell without a screen, in which a test may evaluate code as a second look. */
export async function underGnome(desktop: TestDesktop, withExtension: boolean): Promise<TestDesktop> {
  const runtime = desktop.env.XDG_RUNTIME_DIR ?? ""
  const system = `unix:path=${runtime}/system-bus`
  const config = `${desktop.directory}/system-bus.conf`
  await Bun.write(config, systemBus(system))
  const env = { XDG_CURRENT_DESKTOP: "GNOME", DBUS_SYSTEM_BUS_ADDRESS: system }
  const start = (...command: string[]) => desktop.spawnApp(command, { env: { ...env, DISPLAY: "" } })
  start("dbus-daemon", `--config-file=${config}`, "--nofork")
  await until(async () => existsSync(`${runtime}/system-bus`), 30_000)
  // Mutter takes positions of the pointer as positions in a PipeWire stream.
  start("pipewire")
  await until(async () => existsSync(`${runtime}/pipewire-0`), 30_000)
  start("wireplumber")
  await Bun.$`gsettings set org.gnome.desktop.interface enable-animations false`.env(desktop.env).quiet()
  if (withExtension) await data(desktop, "doctor", "--gnome-extension", "install", "--timeout-ms", "60000")
  const flags = ["--headless", "--wayland", "--no-x11", "--unsafe-mode"]
  const gnome = await underCompositor(desktop, {
    socket: "wayland-0",
    command: ["gnome-shell", ...flags, "--virtual-monitor", "1280x1024"],
    env,
  })
  await until(() => hasName(gnome, "org.gnome.Shell"), 60_000)
  await until(async () => (await evaluate(gnome, "1 + 1").catch(() => 0)) === 2, 60_000)
  // GNOME Shell starts with the overview.
  await until(async () => (await evaluate(gnome, "Main.layoutManager._startingUp")) === false, 60_000)
  await evaluate(gnome, "Main.overview.hide(); 0")
  await until(async () => (await evaluate(gnome, "Main.overview.visible")) === false, 60_000)
  const holder = new URL("hold-input.py", import.meta.url).pathname
  gnome.spawnApp(["/usr/bin/python3", holder])
  const hasSeat = async () =>
    (await data(gnome, "doctor")).checks.some(({ name, ok }: Json) => name === "input" && ok)
  await until(hasSeat, 60_000)
  return gnome
}

/** The value of code in GNOME Shell. */
export async function evaluate({ env }: Pick<TestDesktop, "env">, code: string): Promise<Json> {
  const asked =
    await Bun.$`busctl --user --json=short call org.gnome.Shell /org/gnome/Shell org.gnome.Shell Eval s ${code}`
      .env(env)
      .nothrow()
      .quiet()
  const {
    data: [isDone, text],
  } = JSON.parse(asked.stdout.toString())
  if (!isDone) throw new Error(`GNOME Shell could not evaluate ${code}: ${text}`)
  return text === "" ? undefined : JSON.parse(text)
}

const systemBus = (address: string): string => `<busconfig>
<type>system</type><listen>${address}</listen>
<policy context="default">
<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
</policy>
</busconfig>
`

async function hasName({ env }: TestDesktop, name: string): Promise<boolean> {
  const to = ["--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus"]
  const asked = await Bun.$`gdbus call --session ${to} --method org.freedesktop.DBus.NameHasOwner ${name}`
    .env(env)
    .nothrow()
    .quiet()
  return asked.stdout.toString().includes("true")
}

/** The data of a command that must succeed. */
export async function data(desk: TestDesktop, ...args: readonly string[]): Promise<Json> {
  const { json } = await desk.run(...args)
  if (!json.ok) throw new Error(`${args.join(" ")}: ${JSON.stringify(json.error)}`)
  return json.data
}
