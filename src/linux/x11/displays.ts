import type { Deadline } from "../../deadline.ts"
import type { DisplayInfo } from "../../node.ts"
import { isEmpty } from "../../rect.ts"
import type { X11 } from "./connection.ts"
import { getProperty, propertyText } from "./requests.ts"
import { Request, XError } from "./wire.ts"

/** The monitors, the primary one first; the whole root window where RANDR does not tell. */
export async function listDisplays(x: X11, deadline: Deadline): Promise<DisplayInfo[]> {
  const [monitors, scale] = await Promise.all([readMonitors(x, deadline), readScale(x, deadline)])
  const { width, height } = x.setup.screen
  const whole: Monitor = { id: "screen", bounds: { x: 0, y: 0, width, height }, isPrimary: true }
  const seen = monitors.length > 0 ? monitors : [whole]
  const primary = seen.find((monitor) => monitor.isPrimary) ?? seen[0]
  return seen
    .toSorted((a, b) => Number(b === primary) - Number(a === primary))
    .map((monitor) => ({ id: monitor.id, bounds: monitor.bounds, is_primary: monitor === primary, scale }))
}

interface Monitor {
  readonly id: string
  readonly bounds: DisplayInfo["bounds"]
  readonly isPrimary: boolean
}

async function readMonitors(x: X11, deadline: Deadline): Promise<Monitor[]> {
  const randr = await x.extension("RANDR", deadline)
  if (!randr) return []
  const [version, monitors] = await Promise.all([
    x.ask(new Request(randr.opcode, QUERY_VERSION).u32(1).u32(5), deadline),
    // Servers before 1.5 refuse the request.
    x.ask(new Request(randr.opcode, GET_MONITORS).u32(x.root).u8(1).zeros(3), deadline).catch((error) => {
      if (error instanceof XError) return undefined
      throw error
    }),
  ])
  if (!monitors || version.u32(8) < 1) return []
  const found: { atom: number; bounds: Monitor["bounds"]; isPrimary: boolean }[] = []
  let at = 32
  for (let i = 0; i < monitors.u32(12); i++) {
    found.push({
      atom: monitors.u32(at),
      isPrimary: monitors.u8(at + 4) !== 0,
      bounds: {
        x: monitors.i16(at + 8),
        y: monitors.i16(at + 10),
        width: monitors.u16(at + 12),
        height: monitors.u16(at + 14),
      },
    })
    at += 24 + 4 * monitors.u16(at + 6)
  }
  const visible = found.filter(({ bounds }) => !isEmpty(bounds))
  const names = await Promise.all(
    visible.map(({ atom }) => x.ask(new Request(GET_ATOM_NAME).u32(atom), deadline)),
  )
  return visible.map(({ bounds, isPrimary }, i) => {
    const name = names[i]
    return { id: name ? name.latin1(32, name.u16(8)) : String(i), bounds, isPrimary }
  })
}

// Desktops announce their text scale as Xft.dpi among the X resources; 96 means 1.
async function readScale(x: X11, deadline: Deadline): Promise<number> {
  await x.intern(["RESOURCE_MANAGER"], deadline)
  const resources = propertyText(x, await getProperty(x, x.root, x.atom("RESOURCE_MANAGER"), deadline))
  const dpi = Number(/^Xft\.dpi:\s*([\d.]+)/m.exec(resources ?? "")?.[1])
  return dpi > 0 ? dpi / 96 : 1
}

const QUERY_VERSION = 0
const GET_MONITORS = 42
const GET_ATOM_NAME = 17
