import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { Deadline } from "../src/deadline.ts"
import { CHROMIUM } from "../test/support/chromium.ts"
import type { TestDesktop } from "../test/support/desktop.ts"

/** The applications whose trees are compared and measured: how to start each one and recognise its window. */
export interface StockApp {
  /** Its name for `--apps`. */
  readonly key: string
  readonly toolkit: string
  /** Its name on the accessibility bus. */
  readonly app: string
  /** A part of its window's title. */
  readonly title: string
  /** True if its splash screen has a title that begins in the same way. */
  readonly isWholeTitle?: true
  /** A part of its frame's name on the accessibility bus, if that differs from the title. */
  readonly frame?: string
  readonly command: (directory: string) => readonly string[]
  /** Debian's package. */
  readonly package?: string
  /** Lines that make the window ready, such as a change of its view. */
  readonly prepare?: readonly (readonly string[])[]
  /** The line that opens a menu, a popover or a list. */
  readonly popup?: readonly string[]
}

const FIXTURES = new URL("../test/fixtures/", import.meta.url).pathname

export const STOCK_APPS: readonly StockApp[] = [
  {
    key: "mousepad",
    toolkit: "GTK 3",
    app: "mousepad",
    title: "Mousepad",
    command: () => ["mousepad"],
    popup: ["right-click", "textfield"],
  },
  {
    key: "gedit",
    toolkit: "GTK 3",
    app: "gedit",
    title: "gedit",
    command: () => ["gedit", "--standalone"],
    popup: ["click", 'button "Menu" nth 1'],
  },
  {
    key: "gtk3-widget-factory",
    package: "gtk-3-examples",
    toolkit: "GTK 3",
    app: "gtk3-widget-factory",
    title: "gtk3-widget-factory",
    frame: "",
    command: () => ["gtk3-widget-factory"],
    popup: ["click", 'combobox "emblem-default-symbolic"'],
  },
  {
    key: "gnome-calculator",
    toolkit: "GTK 4",
    app: "gnome-calculator",
    title: "Calculator",
    command: () => ["gnome-calculator"],
    popup: ["click", 'menubutton "Primary menu"'],
  },
  {
    key: "gnome-text-editor",
    toolkit: "GTK 4",
    app: "gnome-text-editor",
    title: "Text Editor",
    command: () => ["gnome-text-editor", "--standalone"],
    popup: ["click", 'menubutton "Menu"'],
  },
  {
    key: "gtk4-widget-factory",
    toolkit: "GTK 4",
    app: "gtk4-widget-factory",
    title: "GTK Widget Factory",
    command: () => ["gtk4-widget-factory"],
  },
  {
    key: "kcalc",
    toolkit: "Qt 5",
    app: "kcalc",
    title: "KCalc",
    frame: "",
    command: () => ["kcalc"],
    popup: ["click", 'menuitem "Settings"'],
  },
  {
    key: "qt6",
    toolkit: "Qt 6",
    app: "fixture-qt6",
    title: "Fixture Qt6",
    command: () => ["/usr/bin/python3", `${FIXTURES}qt.py`],
  },
  {
    key: "chromium",
    toolkit: "Chromium",
    app: "Chromium",
    title: "Every ARIA control",
    command: (directory) => chromium(directory, `file://${FIXTURES}aria.html`),
    popup: ["click", 'combobox "Native select"'],
  },
  {
    key: "writer",
    package: "libreoffice-writer",
    toolkit: "LibreOffice",
    app: "soffice",
    title: "Writer",
    command: office("--writer"),
    popup: ["right-click", "textfield in document"],
  },
  {
    key: "calc",
    package: "libreoffice-calc",
    toolkit: "LibreOffice",
    app: "soffice",
    title: "Calc",
    command: office("--calc"),
    // pyatspi asks ten questions about every cell in view.
    prepare: [["menu", "View > Zoom > 200%"]],
    popup: ["click", 'menuitem "Insert"'],
  },
]

/** Applications of `scripts/setup.ts --for apps`, for the comparison with pyatspi only. */
const MORE_APPS: readonly StockApp[] = [
  {
    key: "thunar",
    toolkit: "GTK 3",
    app: "thunar",
    title: "apps",
    command: (directory) => ["thunar", manyFiles(`${directory}/apps`)],
    // Its icon view has no files on the accessibility bus. Its list view has them.
    prepare: [["press", "ctrl+2"]],
    popup: ["right-click", 'cell "Computer"'],
  },
  {
    key: "evince",
    toolkit: "GTK 3",
    app: "evince",
    title: "shared-mime-info-spec",
    frame: "",
    command: () => ["evince", "/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf"],
    popup: ["click", 'button "File options"'],
  },
  {
    key: "nautilus",
    toolkit: "GTK 4",
    app: "org.gnome.Nautilus",
    title: "apps",
    frame: "",
    command: (directory) => ["nautilus", "--new-window", manyFiles(`${directory}/apps`)],
    popup: ["click", 'menubutton "Main Menu"'],
  },
  {
    key: "pcmanfm-qt",
    toolkit: "Qt 5",
    app: "pcmanfm-qt",
    title: "apps",
    frame: "",
    command: (directory) => ["pcmanfm-qt", manyFiles(`${directory}/apps`)],
    popup: ["click", 'menuitem "File"'],
  },
  {
    key: "featherpad",
    toolkit: "Qt 5",
    app: "FeatherPad",
    title: "Untitled",
    frame: "",
    command: () => ["featherpad"],
    popup: ["click", 'menuitem "Edit"'],
  },
  {
    key: "kate",
    toolkit: "Qt 5",
    app: "kate",
    title: "Kate",
    frame: "",
    command: () => ["kate"],
    popup: ["click", 'menuitem "File"'],
  },
  {
    key: "xfce4-mouse-settings",
    package: "xfce4-settings",
    toolkit: "GTK 3",
    app: "xfce4-mouse-settings",
    title: "Mouse",
    command: () => ["xfce4-mouse-settings"],
    popup: ["click", 'combobox "Device:"'],
  },
  {
    key: "audacity",
    toolkit: "GTK 3",
    app: "audacity",
    title: "Audacity",
    isWholeTitle: true,
    command: audacity,
    popup: ["click", "combobox nth 1"],
  },
  {
    key: "gimp",
    toolkit: "GTK 2",
    app: "gimp",
    title: "GNU Image Manipulation Program",
    command: () => ["gimp", "--no-splash"],
    popup: ["click", 'menuitem "File"'],
  },
  {
    key: "vlc",
    toolkit: "Qt 5",
    app: "vlc",
    title: "VLC",
    frame: "",
    command: vlc,
    popup: ["click", 'menuitem "Media"'],
  },
  {
    key: "impress",
    package: "libreoffice-impress",
    toolkit: "LibreOffice",
    app: "soffice",
    title: "Impress",
    command: impress,
    popup: ["click", 'menuitem "Insert"'],
  },
  {
    key: "firefox",
    package: "firefox-esr",
    toolkit: "Firefox",
    app: "Firefox",
    title: "Every ARIA control",
    command: (directory) => [
      "firefox-esr",
      "--no-remote",
      "--profile",
      directory,
      `file://${FIXTURES}aria.html`,
    ],
    popup: ["click", 'combobox "Native select"'],
  },
  {
    key: "thunderbird",
    toolkit: "Firefox",
    app: "Thunderbird",
    title: "Thunderbird",
    command: thunderbird,
    popup: ["click", 'menubutton "AppMenu"'],
  },
]

/** The apps that `bun run apps` compares with pyatspi and with the lists in test/apps. */
export const PROVEN_APPS: readonly string[] = [...STOCK_APPS, ...MORE_APPS]
  .map(({ key }) => key)
  .filter((key) => key !== "qt6" && key !== "gtk4-widget-factory")

/** Turns off the welcome dialog. */
function audacity(directory: string): readonly string[] {
  mkdirSync(`${directory}/.audacity-data`)
  // Audacity replaces a file that does not name Audacity's version.
  const lines = [
    "PrefsVersion=1.1.1r1",
    "[Version]\nMajor=3\nMinor=2\nMicro=4",
    `[Directories]\nTempDir=${directory}`,
    "[GUI]\nShowSplashScreen=0\n",
  ]
  writeFileSync(`${directory}/.audacity-data/audacity.cfg`, lines.join("\n"))
  return ["env", `HOME=${directory}`, "audacity"]
}

/** Turns off the questions of a new profile. */
function thunderbird(directory: string): readonly string[] {
  const preferences = {
    "mail.provider.suppress_dialog_on_startup": true,
    "mail.accounthub.enabled": false,
    "mail.rights.version": 1,
    "mail.shell.checkDefaultClient": false,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": true,
    "toolkit.telemetry.reportingpolicy.firstRun": false,
    "app.donation.eoy.version.viewed": 999,
  }
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${value});\n`)
  writeFileSync(`${directory}/user.js`, lines.join(""))
  return ["thunderbird", "--no-remote", "--profile", directory]
}

/** VLC exits if `geteuid` says that root runs it. This copy of VLC calls `getppid` instead. */
function vlc(directory: string): readonly string[] {
  const copy = `${directory}/vlc`
  writeFileSync(copy, readFileSync("/usr/bin/vlc", "latin1").replaceAll("geteuid", "getppid"), {
    encoding: "latin1",
    mode: 0o700,
  })
  return [copy, "--no-qt-privacy-ask", "--no-qt-system-tray"]
}

/** A directory with more files than a window shows. */
function manyFiles(directory: string): string {
  mkdirSync(directory, { recursive: true })
  for (let at = 1; at <= 60; at++) writeFileSync(`${directory}/file ${at}.txt`, `${at}\n`)
  return directory
}

export const appNamed = (key: string): StockApp => {
  const apps = [...STOCK_APPS, ...MORE_APPS]
  const app = apps.find((one) => one.key === key)
  if (!app) throw new Error(`'${key}' is not one of ${apps.map((one) => one.key).join(", ")}`)
  return app
}

export interface StartedApp {
  /** Starts the app again if it has ended. Some apps die of an X error if other windows come and go while they start. */
  revive(): void
}

/** Starts the app with a profile of its own below the desktop's directory. */
export function startApp(desktop: TestDesktop, app: StockApp): StartedApp {
  let starts = 0
  const start = () => {
    if (++starts > MAX_STARTS) throw new Error(`${app.key} ended ${MAX_STARTS} times`)
    const directory = `${desktop.directory}/${app.key}-${starts}`
    mkdirSync(directory, { recursive: true })
    return desktop.spawnApp(app.command(directory), { env: { FIXTURE_LOG: `${directory}/events` } })
  }
  let process = start()
  return {
    revive: () => {
      if (process.exitCode !== null || process.signalCode !== null) process = start()
    },
  }
}

const MAX_STARTS = 3

/**
 * Looks until two consecutive looks agree, because an application shows its window before it has filled it.
 * undefined means that nothing is visible yet.
 */
export async function settled(look: () => Promise<string | undefined>, ms = 60_000): Promise<string> {
  const deadline = Deadline.in(ms)
  let last: string | undefined
  for (;;) {
    const now = await look()
    if (now !== undefined && now === last) return now
    if (deadline.expired)
      throw new Error(now === undefined ? "The window did not appear" : "The window did not stop changing")
    last = now
    await Bun.sleep(BETWEEN_LOOKS_MS)
  }
}

/** Long enough for a busy application to show a change. */
const BETWEEN_LOOKS_MS = 200

export function chromium(directory: string, url: string): readonly string[] {
  return [
    ...CHROMIUM,
    "--window-position=0,0",
    "--window-size=1200,960",
    `--user-data-dir=${directory}`,
    `--app=${url}`,
  ]
}

/** Turns off the dialog that offers templates. */
function impress(directory: string): readonly string[] {
  mkdirSync(`${directory}/user`, { recursive: true })
  const names = 'xmlns:oor="http://openoffice.org/2001/registry"'
  const item = '<item oor:path="/org.openoffice.Office.Impress/Misc/NewDoc">'
  const value = '<prop oor:name="AutoPilot" oor:op="fuse"><value>false</value></prop>'
  writeFileSync(
    `${directory}/user/registrymodifications.xcu`,
    `<?xml version="1.0" encoding="UTF-8"?><oor:items ${names}>${item}${value}</item></oor:items>`,
  )
  return office("--impress")(directory)
}

export function office(kind: string): StockApp["command"] {
  return (directory) => [
    "soffice",
    "--norestore",
    "--nologo",
    "--nofirststartwizard",
    `-env:UserInstallation=file://${directory}`,
    kind,
  ]
}
