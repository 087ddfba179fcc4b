import type { Delivery } from "./errors.ts"

export const DIRECTIONS = ["up", "down", "left", "right"] as const
export type Direction = (typeof DIRECTIONS)[number]

export type Action =
  | { readonly kind: "click" | "double-click"; readonly modifiers?: readonly Modifier[] }
  | { readonly kind: "triple-click" }
  | { readonly kind: "right-click" }
  | { readonly kind: "toggle" }
  | { readonly kind: "check" }
  | { readonly kind: "uncheck" }
  | { readonly kind: "expand" }
  | { readonly kind: "collapse" }
  /** In a list that takes several options: adds to the selection, or with `only` replaces it. */
  | { readonly kind: "select"; readonly value: string; readonly only?: boolean }
  /** secret: no trace of the text may be left, not even its length. */
  | { readonly kind: "set-value"; readonly value: string; readonly secret?: boolean }
  | { readonly kind: "type"; readonly text: string; readonly secret?: boolean }
  | { readonly kind: "clear" }
  | { readonly kind: "focus" }
  | { readonly kind: "scroll"; readonly direction: Direction; readonly amount: number }
  /** `edge`: to this edge of the view, even if it is in view already; not delivered if the app cannot. */
  | { readonly kind: "scroll-to"; readonly edge?: "top" | "bottom" }

/** semantic: through the accessibility interface only; physical: by pointer and keyboard only. */
export const INPUT_POLICIES = ["auto", "semantic", "physical"] as const
export type InputPolicy = (typeof INPUT_POLICIES)[number]

export interface Performed {
  /** How it was delivered, e.g. `AXPress`, `atspi:click`, `atspi:EditableText.InsertText`. */
  readonly method: string
  readonly delivery: Delivery
  /** The whole name of the option that was chosen. */
  readonly chosen?: string
  /** True if nothing was sent because the element is already as requested. */
  readonly already?: true
  /** The app's answer that it refused, in the platform's words. Some apps say so although they did it. */
  readonly refusal?: string
  /** True if the element was only selected, so that its state can show nothing else. */
  readonly isSelection?: boolean
}

export interface KeptFocus {
  /**
   * `asked`: the app was asked, and the element shows the result. `inside`: a field inside it has the focus. `no
   * route`: the app cannot be asked. `behind`: the app was not asked, because it would raise the window.
   */
  readonly kind: "asked" | "inside" | "no route" | "behind"
  /** True if its window is the one that gets the keys. */
  readonly isInFront: boolean
}

/** Nothing was sent: the element has no route for the action. */
export const NOT_DELIVERED: Performed = { method: "none", delivery: "not_delivered" }
/** Nothing was sent: the element is as requested. */
export const ALREADY: Performed = { ...NOT_DELIVERED, already: true }

export const BUTTONS = ["left", "right", "middle"] as const
export type Button = (typeof BUTTONS)[number]

export interface Combo {
  readonly modifiers: readonly Modifier[]
  /** A key name of keys.ts, or one character. */
  readonly key: string
}

export const MODIFIERS = ["cmd", "ctrl", "alt", "shift"] as const
export type Modifier = (typeof MODIFIERS)[number]
