import type { Env } from "../../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"

/** Our virtual devices on the compositor's seat, by wlroots protocols. */
export function virtualDevices(wayland: Wayland, env: Env): Devices {
  return {
    pointer: async (outputs, deadline) => {
      const { VirtualPointer } = await import("./virtual-pointer.ts")
      return (await VirtualPointer.open(wayland, outputs, deadline)) ?? noDevice("pointer")
    },
    keyboard: async (deadline) => {
      const { VirtualKeyboard } = await import("./virtual-keyboard.ts")
      return (await VirtualKeyboard.open(wayland, env, deadline)) ?? noDevice("keyboard")
    },
  }
}

/** True if the compositor has the protocols of both devices. */
export function hasVirtualDevices({ globals }: Wayland): boolean {
  return ["zwlr_virtual_pointer_manager_v1", "zwp_virtual_keyboard_manager_v1"].every((name) =>
    globals.has(name),
  )
}

function noDevice(device: string): never {
  throw new AppError("PLATFORM_NOT_SUPPORTED", `This compositor takes no ${device} input from programs`, {
    suggestion:
      "Use commands that work by accessibility, or an isolated desktop: agent-desktop desktop-start",
    disposition: NOTHING_DELIVERED,
  })
}
