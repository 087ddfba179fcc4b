import type { Env, InputEvent, ScreenshotTarget, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { ClipboardOp, Picture } from "../../desktop.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { DisplayInfo, Point } from "../../node.ts"
import type { InputLock } from "../../turn.ts"
import type { ScreenWatch } from "../../watch.ts"
import type { MenuNote, Owner, WindowSystem } from "../windowing/system.ts"
import type { TopWindow } from "../windowing/window.ts"
import { Wayland } from "./connection.ts"

/**
 * A compositor that reports nothing about windows. Windows come from the accessibility bus, without positions.
 * Everything that needs a position or input is refused before anything is sent. Displays, pictures and the clipboard
 * work if the compositor has the protocols for them.
 */
export class Compositor implements WindowSystem {
  readonly listsAll: boolean = false
  readonly hasInput: boolean = false
  protected readonly env: Env

  constructor(env: Env) {
    this.env = env
  }

  async isNative(_pid: number, _deadline: Deadline): Promise<boolean> {
    return true
  }

  async windows(_deadline: Deadline): Promise<readonly TopWindow[]> {
    return []
  }

  async mates(_id: string, _deadline: Deadline): Promise<readonly TopWindow[]> {
    return []
  }

  async existing(_ids: readonly string[], _deadline: Deadline): Promise<ReadonlySet<string>> {
    return new Set()
  }

  async popups(): Promise<undefined> {
    return undefined
  }

  async windowAt(_point: Point, _deadline: Deadline): Promise<TopWindow | undefined> {
    throw refusal("This compositor does not report window positions")
  }

  async watch(_changed: () => void, _deadline: Deadline): Promise<Disposable> {
    return { [Symbol.dispose]: () => {} }
  }

  async operate(_id: string, _op: WindowOp, _deadline: Deadline): Promise<void> {
    throw refusal("This compositor does not let programs focus, move or resize windows")
  }

  async requestClose(_id: string, _deadline: Deadline): Promise<string | undefined> {
    return undefined
  }

  async caughtUp(_id: string, _deadline: Deadline): Promise<boolean> {
    return true
  }

  async openLock(_deadline: Deadline): Promise<InputLock> {
    throw noInput()
  }

  async hasKeys(_owner: Owner, _deadline: Deadline): Promise<boolean | undefined> {
    return undefined
  }

  async input(
    _event: InputEvent,
    _deadline: Deadline,
    _owner?: Owner,
    _approach?: () => Promise<void>,
  ): Promise<void> {
    throw noInput()
  }

  async visitRow(_at: Point, _top: number, _deadline: Deadline): Promise<void> {
    throw noInput()
  }

  async readMenuNotes(_pid: number, _deadline: Deadline): Promise<readonly string[]> {
    return []
  }

  async writeMenuNote(_menu: MenuNote, _deadline: Deadline): Promise<void> {}

  async clipboard(op: ClipboardOp, deadline: Deadline): Promise<string | undefined> {
    const { operateClipboard } = await import("./clipboard.ts")
    return this.connected(deadline, (wayland) => operateClipboard(wayland, op, this.env, deadline))
  }

  async picture(target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
    const { takePicture } = await import("./picture.ts")
    return this.connected(deadline, (wayland) => takePicture(wayland, target, deadline))
  }

  async watchScreen(deadline: Deadline): Promise<ScreenWatch | undefined> {
    return (await import("./screen-watch.ts")).watchScreen(this.env, deadline)
  }

  async displays(deadline: Deadline): Promise<readonly DisplayInfo[]> {
    const { readOutputs } = await import("./displays.ts")
    return this.connected(deadline, async (wayland) =>
      (await readOutputs(wayland, deadline)).map(({ info }) => info),
    )
  }

  /** Works on a separate connection, which ends with the work, as do its devices and offers. */
  protected async connected<T>(deadline: Deadline, work: (wayland: Wayland) => Promise<T>): Promise<T> {
    const wayland = await Wayland.connect(this.env, deadline)
    try {
      return await work(wayland)
    } finally {
      wayland.close()
    }
  }
}

const noInput = (): AppError =>
  refusal(
    "This compositor accepts no pointer or keyboard input from programs, and does not report window positions",
  )

function refusal(message: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", message, {
    suggestion:
      "Use commands that work by accessibility: click, type, set-value, check and select by ref; or run the app on an isolated desktop: agent-desktop desktop-start",
    disposition: NOTHING_DELIVERED,
  })
}
