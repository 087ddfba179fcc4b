import { writeFileSync } from "node:fs"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { DesktopPart } from "./desktop-record.ts"
import { isAlive } from "./processes.ts"
import { X11 } from "./x11.ts"
import { EVENT, MASK, selectEvents } from "./x11-requests.ts"
import { managerAnswers, readManager } from "./x11-windows.ts"

const WINDOW_MANAGERS = ["openbox", "xfwm4", "metacity"] as const
export type WindowManager = (typeof WINDOW_MANAGERS)[number]

/** The wanted window manager, or the first that is installed. */
export function chooseWindowManager(
  path: string | undefined,
  wanted?: WindowManager,
): WindowManager | undefined {
  return (wanted ? [wanted] : WINDOW_MANAGERS).find((name) => Bun.which(name, { PATH: path }))
}

export function windowManagerCommand(name: WindowManager, directory: string): readonly string[] {
  switch (name) {
    case "openbox":
      writeFileSync(`${directory}/openbox.xml`, OPENBOX)
      return ["openbox", "--sm-disable", "--config-file", `${directory}/openbox.xml`]
    case "xfwm4":
      return ["xfwm4", "--sm-client-disable", "--compositor=off"]
    case "metacity":
      return ["metacity", "--sm-disable", "--no-composite"]
    default:
      return name satisfies never
  }
}

/** Resolves when it manages the windows of the display. */
export async function windowManagerReady(
  part: DesktopPart,
  env: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<void> {
  const x = await X11.connect(env, deadline)
  try {
    using changes = x.listen(({ code }) => code === EVENT.propertyNotify)
    x.send(selectEvents(x.root, MASK.property))
    while (!(await readManager(x, deadline))) {
      if (!isAlive(part)) throw new AppError("ACTION_FAILED", `${part.program} ended before it was ready`)
      // A slice: when it dies, nothing changes on the display.
      await changes.next(deadline.slice(LOOK_AGAIN_MS))
    }
    // It announces itself before it listens, and a program that opens its window in between waits in vain.
    if (!(await managerAnswers(x, deadline))) {
      throw new AppError("TIMEOUT", `${part.program} did not answer in time`, {
        details: { kind: "desktop" },
      })
    }
  } finally {
    x.close()
  }
}

const LOOK_AGAIN_MS = 100

const mouse = (context: string, ...bindings: string[]) =>
  `<context name="${context}">${bindings.join("")}</context>`
const on = (button: string, action: string, ...actions: string[]) =>
  `<mousebind button="${button}" action="${action}">${actions.map((name) => `<action name="${name}"/>`).join("")}</mousebind>`
const edge = (context: string, side: string) =>
  mouse(
    context,
    `<mousebind button="Left" action="Drag"><action name="Resize"><edge>${side}</edge></action></mousebind>`,
  )
const key = (combo: string, action: string) => `<keybind key="${combo}"><action name="${action}"/></keybind>`

/**
 * Windows that behave as on any desktop, and nothing else: the configuration that comes with openbox
 * has four workspaces and changes between them when the wheel turns over the background, and its
 * keys start programs.
 */
const OPENBOX = `<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
<placement><policy>Smart</policy></placement>
<theme><name>Clearlooks</name><titleLayout>NLIMC</titleLayout><animateIconify>no</animateIconify></theme>
<desktops><number>1</number><popupTime>0</popupTime></desktops>
<keyboard>${key("A-F4", "Close")}${key("A-Tab", "NextWindow")}</keyboard>
<mouse><doubleClickTime>500</doubleClickTime>
${mouse("Frame", on("A-Left", "Press", "Focus", "Raise"), on("A-Left", "Drag", "Move"))}
${mouse("Titlebar", on("Left", "Drag", "Move"), on("Left", "DoubleClick", "ToggleMaximize"))}
${mouse("Titlebar Top Right Bottom Left TLCorner TRCorner BRCorner BLCorner", on("Left", "Press", "Focus", "Raise"))}
${edge("Top", "top")}${edge("Left", "left")}${edge("Right", "right")}${edge("Bottom", "bottom")}
${mouse("TLCorner TRCorner BRCorner BLCorner", on("Left", "Drag", "Resize"))}
${mouse("Client", ...["Left", "Middle", "Right"].map((button) => on(button, "Press", "Focus", "Raise")))}
${mouse("Maximize", on("Left", "Press", "Focus", "Raise"), on("Left", "Click", "ToggleMaximize"))}
${mouse("Iconify", on("Left", "Press", "Focus", "Raise"), on("Left", "Click", "Iconify"))}
${mouse("Close", on("Left", "Press", "Focus", "Raise"), on("Left", "Click", "Close"))}
</mouse>
</openbox_config>
`
