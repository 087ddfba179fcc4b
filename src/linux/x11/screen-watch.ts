import { Deadline } from "../../deadline.ts"
import type { Rect } from "../../node.ts"
import { intersection, isEmpty } from "../../rect.ts"
import type { ScreenPart, ScreenWatch } from "../../watch.ts"
import type { X11 } from "./connection.ts"
import { geometryIn, geometryRequest } from "./requests.ts"
import { readPixels } from "./screenshot.ts"
import { type Packet, Request, XError } from "./wire.ts"

/**
 * Follows the pixels of the screen. The server reports that something was drawn, and keeps the drawn region until it is
 * read: nothing is read while nothing is drawn. undefined: the server lacks a required extension.
 */
export async function watchScreen(x: X11, deadline: Deadline): Promise<ScreenWatch | undefined> {
  const [damage, fixes] = await Promise.all([
    x.extension("DAMAGE", deadline),
    x.extension("XFIXES", deadline),
  ])
  if (!damage || !fixes) return undefined
  await x.askAll(
    [
      new Request(damage.opcode, QUERY_VERSION).u32(1).u32(1),
      new Request(fixes.opcode, QUERY_VERSION).u32(4).u32(0),
    ],
    deadline,
  )
  const [id, region] = [x.newId(), x.newId()]
  const events = x.listen(({ code, packet }) => code === damage.firstEvent && packet.u32(8) === id)
  await x.check(
    [
      new Request(fixes.opcode, CREATE_REGION).u32(region),
      new Request(damage.opcode, DAMAGE_CREATE).u32(id).u32(x.root).u8(NON_EMPTY).zeros(3),
    ],
    deadline,
  )
  const closing = new AbortController()
  let size = { width: 0, height: 0 }
  return {
    get size() {
      return size
    },
    changed: async (maxMs) =>
      size.width === 0 || (await events.next(Deadline.in(maxMs, closing.signal))) !== undefined,
    async take(within) {
      x.send(new Request(damage.opcode, DAMAGE_SUBTRACT).u32(id).u32(0).u32(region))
      const [drawn, root] = await x.askAll(
        [new Request(fixes.opcode, FETCH_REGION).u32(region), geometryRequest(x.root)],
        within,
      )
      if (root instanceof XError) throw root
      if (drawn instanceof XError) throw drawn
      if (!drawn || !root) return []
      const whole = { ...geometryIn(root), x: 0, y: 0 }
      const isResized = whole.width !== size.width || whole.height !== size.height
      size = { width: whole.width, height: whole.height }
      const areas = isResized ? [whole] : areasOf(drawn, whole)
      return Promise.all(
        areas.map(
          async ({ x: left, y: top, width, height }): Promise<ScreenPart> => ({
            ...(await readPixels(x, x.root, { x: left, y: top, width, height }, within)),
            x: left,
            y: top,
          }),
        ),
      )
    },
    close() {
      closing.abort()
      events[Symbol.dispose]()
      if (x.closed) return
      x.send(new Request(damage.opcode, DAMAGE_DESTROY).u32(id))
      x.send(new Request(fixes.opcode, DESTROY_REGION).u32(region))
    },
  }
}

/** The rectangles of a region; one around all of them if they are many. */
function areasOf(reply: Packet, whole: Rect): readonly Rect[] {
  const count = (reply.length - 32) / 8
  const at = (offset: number): Rect => ({
    x: reply.i16(offset),
    y: reply.i16(offset + 2),
    width: reply.u16(offset + 4),
    height: reply.u16(offset + 6),
  })
  const areas = count > MOST_AREAS ? [at(8)] : Array.from({ length: count }, (_, i) => at(32 + i * 8))
  return areas.map((area) => intersection(area, whole)).filter((area) => !isEmpty(area))
}

const MOST_AREAS = 12
const QUERY_VERSION = 0
const DAMAGE_CREATE = 1
const DAMAGE_DESTROY = 2
const DAMAGE_SUBTRACT = 3
const NON_EMPTY = 3
const CREATE_REGION = 5
const DESTROY_REGION = 10
const FETCH_REGION = 19
