import { mkdirSync, writeFileSync } from "node:fs"
import { Deadline } from "../src/deadline.ts"
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
  /** A part of its frame's name on the accessibility bus, if that differs from the title. */
  readonly frame?: string
  readonly command: (directory: string) => readonly string[]
}

const FIXTURES = new URL("../test/fixtures/", import.meta.url).pathname

export const STOCK_APPS: readonly StockApp[] = [
  { key: "mousepad", toolkit: "GTK 3", app: "mousepad", title: "Mousepad", command: () => ["mousepad"] },
  { key: "gedit", toolkit: "GTK 3", app: "gedit", title: "gedit", command: () => ["gedit", "--standalone"] },
  {
    key: "gtk3-widget-factory",
    toolkit: "GTK 3",
    app: "gtk3-widget-factory",
    title: "gtk3-widget-factory",
    frame: "",
    command: () => ["gtk3-widget-factory"],
  },
  {
    key: "gnome-calculator",
    toolkit: "GTK 4",
    app: "gnome-calculator",
    title: "Calculator",
    command: () => ["gnome-calculator"],
  },
  {
    key: "gnome-text-editor",
    toolkit: "GTK 4",
    app: "gnome-text-editor",
    title: "Text Editor",
    command: () => ["gnome-text-editor", "--standalone"],
  },
  {
    key: "gtk4-widget-factory",
    toolkit: "GTK 4",
    app: "gtk4-widget-factory",
    title: "GTK Widget Factory",
    command: () => ["gtk4-widget-factory"],
  },
  { key: "kcalc", toolkit: "Qt 5", app: "kcalc", title: "KCalc", frame: "", command: () => ["kcalc"] },
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
  },
  { key: "writer", toolkit: "LibreOffice", app: "soffice", title: "Writer", command: office("--writer") },
  { key: "calc", toolkit: "LibreOffice", app: "soffice", title: "Calc", command: office("--calc") },
]

/** Applications of `scripts/setup.ts --for apps`, for the comparison with pyatspi only. */
export const MORE_APPS: readonly StockApp[] = [
  {
    key: "thunar",
    toolkit: "GTK 3",
    app: "thunar",
    title: "apps",
    command: (directory) => ["thunar", manyFiles(`${directory}/apps`)],
  },
  {
    key: "evince",
    toolkit: "GTK 3",
    app: "evince",
    title: "shared-mime-info-spec",
    frame: "",
    command: () => ["evince", "/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf"],
  },
  {
    key: "nautilus",
    toolkit: "GTK 4",
    app: "org.gnome.Nautilus",
    title: "apps",
    frame: "",
    command: (directory) => ["nautilus", "--new-window", manyFiles(`${directory}/apps`)],
  },
  {
    key: "pcmanfm-qt",
    toolkit: "Qt 5",
    app: "pcmanfm-qt",
    title: "apps",
    frame: "",
    command: (directory) => ["pcmanfm-qt", manyFiles(`${directory}/apps`)],
  },
  {
    key: "featherpad",
    toolkit: "Qt 5",
    app: "FeatherPad",
    title: "Untitled",
    frame: "",
    command: () => ["featherpad"],
  },
  { key: "kate", toolkit: "Qt 5", app: "kate", title: "Kate", frame: "", command: () => ["kate"] },
  {
    key: "xfce4-mouse-settings",
    toolkit: "GTK 3",
    app: "xfce4-mouse-settings",
    title: "Mouse",
    command: () => ["xfce4-mouse-settings"],
  },
  { key: "audacity", toolkit: "GTK 3", app: "audacity", title: "Audacity", command: () => ["audacity"] },
  { key: "impress", toolkit: "LibreOffice", app: "soffice", title: "Impress", command: office("--impress") },
  {
    key: "thunderbird",
    toolkit: "Firefox",
    app: "Thunderbird",
    title: "Thunderbird",
    command: (directory) => ["thunderbird", "--no-remote", "--profile", directory],
  },
]

/** A directory with more files than a window shows. */
function manyFiles(directory: string): string {
  mkdirSync(directory, { recursive: true })
  for (let at = 1; at <= 60; at++) writeFileSync(`${directory}/file ${at}.txt`, `${at}\n`)
  return directory
}

export const appNamed = (key: string): StockApp => {
  const apps = [...STOCK_APPS, ...MORE_APPS]
  const app = apps.find((one) => one.key === key)
  if (!app) throw new Error(`There is no '${key}': ${apps.map((one) => one.key).join(", ")}`)
  return app
}

export interface StartedApp {
  /** Starts the app again if it has ended: some die of an X error at their start while other windows come and go. */
  revive(): void
}

/** Starts the app with a profile of its own below the desktop's directory. */
export function startApp(desktop: TestDesktop, app: StockApp): StartedApp {
  let starts = 0
  const start = () => {
    if (++starts > MAX_STARTS) throw new Error(`${app.key} does not stay`)
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
    if (deadline.expired) throw new Error(now === undefined ? "Nothing appeared" : "It never came to rest")
    last = now
    await Bun.sleep(BETWEEN_LOOKS_MS)
  }
}

/** Long enough for a busy application to show a change. */
const BETWEEN_LOOKS_MS = 200

export function chromium(directory: string, url: string): readonly string[] {
  return [
    "chromium",
    "--force-renderer-accessibility",
    // --test-type hides the warning about --no-sandbox above the page.
    ...(process.getuid?.() === 0 ? ["--no-sandbox", "--test-type"] : []),
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--password-store=basic",
    "--window-position=0,0",
    "--window-size=1200,960",
    `--user-data-dir=${directory}`,
    `--app=${url}`,
  ]
}

function office(kind: string): StockApp["command"] {
  return (directory) => [
    "soffice",
    "--norestore",
    "--nologo",
    "--nofirststartwizard",
    `-env:UserInstallation=file://${directory}`,
    kind,
  ]
}
