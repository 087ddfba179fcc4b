import type { DesktopInfo, DesktopOp } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { PlatformOptions } from "../platform.ts"
import { listDesktops, startDesktop, stopDesktop } from "./desktop.ts"

/** Starts, ends and lists isolated desktops. None of it needs a desktop to be there. */
export async function operateDesktops(
  options: PlatformOptions,
  op: DesktopOp,
  deadline: Deadline,
): Promise<readonly DesktopInfo[]> {
  const { root, env } = options
  switch (op.kind) {
    case "list":
      return listDesktops(root)
    case "start":
      return [await startDesktop({ root, env, name: op.name, width: op.width, height: op.height }, deadline)]
    case "stop": {
      if (op.name !== undefined) return [await stopDesktop(root, op.name, deadline)]
      const all = listDesktops(root)
      return Promise.all(all.map(({ name }) => stopDesktop(root, name, deadline)))
    }
    default:
      return op satisfies never
  }
}
