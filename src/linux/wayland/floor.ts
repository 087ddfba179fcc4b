import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { WindowSystem } from "../windowing/system.ts"
import type { TopWindow } from "../windowing/window.ts"

/**
 * A compositor that tells programs nothing: its windows are those of the accessibility bus, whose places nobody knows.
 * Everything that needs a place, input or a picture is refused before anything is sent.
 */
export class Floor implements WindowSystem {
  readonly listsAll: boolean = false
  readonly hasInput: boolean = false

  async isNative(): Promise<boolean> {
    return true
  }

  async windows(): Promise<readonly TopWindow[]> {
    return []
  }

  async mates(): Promise<readonly TopWindow[]> {
    return []
  }

  async existing(): Promise<ReadonlySet<string>> {
    return new Set()
  }

  async popups(): Promise<undefined> {
    return undefined
  }

  async windowAt(): Promise<never> {
    throw refusal("This compositor does not tell where windows are")
  }

  async watch(): Promise<Disposable> {
    return { [Symbol.dispose]: () => {} }
  }

  async operate(): Promise<never> {
    throw refusal("This compositor does not let programs focus, move or resize windows")
  }

  async requestClose(): Promise<undefined> {
    return undefined
  }

  async caughtUp(): Promise<boolean> {
    return true
  }

  async openLock(): Promise<never> {
    throw noInput()
  }

  async hasKeys(): Promise<undefined> {
    return undefined
  }

  async input(): Promise<never> {
    throw noInput()
  }

  async visitRow(): Promise<never> {
    throw noInput()
  }

  async readMenuNotes(): Promise<readonly string[]> {
    return []
  }

  async writeMenuNote(): Promise<void> {}

  async clipboard(): Promise<never> {
    throw refusal("This compositor does not let programs use the clipboard")
  }

  async picture(): Promise<never> {
    throw refusal("This compositor does not let programs take pictures of the screen")
  }

  async displays(): Promise<never> {
    throw refusal("This compositor does not tell where its displays are")
  }
}

const noInput = (): AppError =>
  refusal("This compositor takes neither pointer nor keyboard input from programs, and tells no places")

function refusal(message: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", message, {
    suggestion:
      "Use commands that work by accessibility: click, type, set-value, check and select by ref; or run the app on an isolated desktop: agent-desktop desktop-start",
    disposition: NOTHING_DELIVERED,
  })
}
