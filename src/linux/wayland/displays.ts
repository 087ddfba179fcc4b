import type { Deadline } from "../../deadline.ts"
import type { DisplayInfo, Rect } from "../../node.ts"
import { around } from "../../rect.ts"
import type { Wayland } from "./connection.ts"
import { WaylandMessage } from "./wire.ts"

/**
 * An output of the compositor. Its bounds are in the compositor's logical pixels; its picture has `scale` times as
 * many.
 */
export interface Output {
  readonly object: number
  readonly info: DisplayInfo
}

export async function readOutputs(wayland: Wayland, deadline: Deadline): Promise<readonly Output[]> {
  const manager = wayland.bind("zxdg_output_manager_v1", 3)
  const outputs = wayland.outputs.map((global) => {
    const facts = { place: { x: 0, y: 0 }, mode: { width: 0, height: 0 }, scale: 1, name: "" }
    const logical: { place?: { x: number; y: number }; size?: { width: number; height: number } } = {}
    const object = wayland.bindGlobal("wl_output", global, 4, (event) => {
      if (event.opcode === GEOMETRY) facts.place = { x: event.i32(), y: event.i32() }
      if (event.opcode === MODE && (event.u32() & CURRENT) !== 0)
        facts.mode = { width: event.i32(), height: event.i32() }
      if (event.opcode === SCALE) facts.scale = event.i32()
      if (event.opcode === NAME) facts.name = event.text()
    })
    if (manager !== undefined) {
      const xdg = wayland.create((event) => {
        if (event.opcode === LOGICAL_POSITION) logical.place = { x: event.i32(), y: event.i32() }
        if (event.opcode === LOGICAL_SIZE) logical.size = { width: event.i32(), height: event.i32() }
        if (event.opcode === XDG_NAME && !facts.name) facts.name = event.text()
      })
      wayland.send(new WaylandMessage(manager, GET_XDG_OUTPUT).u32(xdg).u32(object))
    }
    return { object, facts, logical }
  })
  await wayland.sync(deadline)
  return outputs.map(({ object, facts, logical }, i) => {
    const size = logical.size ?? {
      width: Math.round(facts.mode.width / facts.scale),
      height: Math.round(facts.mode.height / facts.scale),
    }
    const scale = facts.mode.width > 0 && size.width > 0 ? facts.mode.width / size.width : facts.scale
    const bounds: Rect = { ...(logical.place ?? facts.place), ...size }
    return { object, info: { id: facts.name || `output-${i}`, bounds, is_primary: i === 0, scale } }
  })
}

/** The rectangle around all outputs. */
export function layoutOf(outputs: readonly Output[]): Rect {
  return around(outputs.map(({ info }) => info.bounds))
}

const GEOMETRY = 0
const MODE = 1
const CURRENT = 1
const SCALE = 3
const NAME = 4
const GET_XDG_OUTPUT = 1
const LOGICAL_POSITION = 0
const LOGICAL_SIZE = 1
const XDG_NAME = 3
