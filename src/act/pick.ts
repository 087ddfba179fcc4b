import { type Action, ALREADY, type InputPolicy, NOT_DELIVERED, type Performed } from "../action.ts"
import { MAX_LEVELS, type Seen, type SeenNode, type TreeTarget } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { chooseByName, restChanged } from "../match.ts"
import { hasTrait, type Point, type Role } from "../node.ts"
import { nameForIdentity } from "../refmap.ts"
import { readSame, type Target, windowOf } from "../refs/resolve.ts"
import { walk } from "../tree.ts"
import { until } from "../until.ts"
import { sendAction, sendInput } from "./deliver.ts"
import { notSupported } from "./expect.ts"
import { pressKey } from "./keyboard.ts"
import { BEFORE_ACTING, bringToFront, clickElement, inputTarget } from "./pointer.ts"

/** How long a list may take to open after the click that opens it. */
const POPUP_MS = 1500
/** How long a list may take to close, and a clicked option to be marked. */
const REACTION_MS = 1000

type Select = Extract<Action, { kind: "select" }>

/** Clicks the only option with this name: in the list that a combobox opens, or in the list itself. */
export async function pickOption(
  ctx: Context,
  target: Target,
  action: Select,
  policy: InputPolicy,
): Promise<Performed> {
  const { ref, seen } = target
  if (hasTrait(seen.role, "opensMenu")) return pickFromPopup(ctx, target, action, policy)
  const options = await listed(ctx, target)
  if (options.length === 0) throw notSupported(ref, seen, action)
  return pickInList(ctx, target, action, options)
}

async function pickInList(
  ctx: Context,
  target: Target,
  action: Select,
  options: readonly SeenNode[],
): Promise<Performed> {
  const { ref, seen } = target
  const option = chooseByName(options, action.value, ref)
  const chosen = option.name ?? action.value
  const isMulti = seen.states.includes("multiselectable")
  const rest = namesOf(options.filter((one) => one !== option && isSelected(one)))
  const isReplacing = action.only === true && rest.length > 0
  if (isSelected(option) && !isReplacing) return { ...ALREADY, chosen }
  const clicked = optionTarget(target, option, target.entry.window_id)
  // A plain click deselects the others. Not every list reports whether it allows several options.
  const isAdding = rest.length > 0 && !isReplacing && option.role !== "tab"
  const performed = await (isAdding ? clickToAdd : clickElement)(ctx, clicked, action)
  const wanted = isReplacing ? [] : rest
  const isRight = (others: readonly string[]): boolean =>
    others.join() === wanted.join() || (!isMulti && others.length === 0)
  let others = wanted
  const isMarked = await until(
    ctx,
    async () => {
      const now = namesOf((await listed(ctx, target)).filter(isSelected))
      others = now.filter((name) => name !== chosen)
      return (now.includes(chosen) && isRight(others)) || undefined
    },
    { pids: [target.entry.pid], deadline: ctx.deadline.slice(REACTION_MS) },
  ).catch(unknownAfterwards)
  if (isMarked) return { ...performed, chosen, delivery: "delivered_verified" }
  if (!isRight(others)) throw restChanged(chosen, wanted, others)
  return { ...performed, chosen }
}

/** The options of a list, including those scrolled out of view. */
const listed = async (ctx: Context, target: Target): Promise<readonly SeenNode[]> =>
  (await optionsOfList(ctx, target)).options

/** The same. `isWhole`: the list has no other options. */
export const optionsOfList = (ctx: Context, { seen }: Target): Promise<ReadOptions> =>
  readOptions(ctx, { kind: "element", handle: seen.handle }, true)

const namesOf = (options: readonly SeenNode[]): readonly string[] => options.flatMap(({ name }) => name ?? [])

/** Clicks while holding the key that keeps the other options selected. */
async function clickToAdd(ctx: Context, option: Target, action: Action): Promise<Performed> {
  await bringToFront(ctx, option)
  const combo = { modifiers: [], key: process.platform === "darwin" ? "cmd" : "ctrl" } as const
  await sendInput(ctx, { kind: "key", combo, phase: "down", target: inputTarget(option) }, action)
  try {
    return await clickElement({ ...ctx, deadline: ctx.deadline.slice(HELD_MS) }, option, action)
  } finally {
    await ctx.adapter.input({ kind: "key", combo, phase: "up" })
  }
}

/** The longest time that a key is held down for a click. */
const HELD_MS = 3000

export const isSelected = ({ states }: SeenNode): boolean => states.includes("selected")

/** A failed look after the click says nothing about the click. */
function unknownAfterwards(error: unknown): undefined {
  if (error instanceof AppError) return undefined
  throw error
}

async function pickFromPopup(
  ctx: Context,
  target: Target,
  action: Select,
  policy: InputPolicy,
): Promise<Performed> {
  // A list that a page draws itself needs no pointer, and can be recognized only once it is open.
  const mayBeInPage = target.seen.tellsLate !== undefined && policy !== "physical"
  if (target.seen.listIsPlaceless && !mayBeInPage) throw placeless(target.ref)
  const list = new List(ctx, target)
  try {
    const { options, isInPage } = await list.open()
    const option = chooseByName(options, action.value, target.ref)
    // A list that the page draws itself reacts to its options' actions. Other lists react only to the pointer.
    const isSent = isInPage && policy !== "physical"
    const sent = isSent ? await sendAction(ctx, option.handle, { kind: "click" }) : NOT_DELIVERED
    const performed =
      sent.delivery === "not_delivered" ? await clickElement(ctx, optionTarget(target, option), action) : sent
    return { ...performed, chosen: option.name }
  } catch (error) {
    if (error instanceof AppError && error.disposition?.delivery === "not_delivered")
      throw await list.closeAfter(error, action)
    throw error
  }
}

const choseOther = (ref: string, message: string): AppError =>
  new AppError("ACTION_FAILED", `${message}, and its value has changed`, {
    suggestion: `See what it shows now: agent-desktop get ${ref} value`,
    details: { kind: "selection" },
    disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
  })

/** Refuses before the list opens: its options could not be clicked, and it would stay open. */
function placeless(ref: string): AppError {
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `The position of the list that ${ref} opens is unknown on this screen`,
    {
      suggestion: `Choose with the keys instead: 'focus ${ref}', then 'press down' or 'press up'`,
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** The list that a combobox opens. It is closed again if no option was chosen. */
class List {
  readonly #ctx: Context
  readonly #target: Target
  /** True if this command clicked the combobox. A list that was open before stays open. */
  #isOurs = false
  #popups = 0
  #before: ReadonlySet<string> = new Set()

  constructor(ctx: Context, target: Target) {
    this.#ctx = ctx
    this.#target = target
  }

  /** Opens the list, unless it is open, and waits for its options. */
  async open(): Promise<Options> {
    const { entry, seen } = this.#target
    const wasOpen = seen.states.includes("expanded")
    if (!wasOpen) {
      this.#popups = await this.#countPopups()
      this.#before = new Set((await optionsInWindow(this.#ctx, this.#target)).map(keyOf))
      await clickElement(this.#ctx, this.#target, { kind: "expand" }, { pointOf: arrowPoint })
      this.#isOurs = true
    }
    const shown = await until(this.#ctx, () => shownOptions(this.#ctx, this.#target, this.#before), {
      pids: [entry.pid],
      deadline: this.#ctx.deadline.slice(POPUP_MS),
    })
    return shown ?? { options: [], isInPage: false }
  }

  /** Adds to a failure what happened to the list. */
  async closeAfter(error: AppError, action: Select): Promise<AppError> {
    if (!this.#isOurs) return error
    const fate = await this.#close(action).catch((failed: unknown): Fate => {
      if (failed instanceof AppError) return "left open"
      throw failed
    })
    const { code, message, suggestion, platformDetail, details } = error
    if (fate === "not opened") return (await this.#isChosen()) ? choseOther(this.#target.ref, message) : error
    const facts = { suggestion, platformDetail, details: { ...details, list: fate } }
    if (fate === "closed again")
      return new AppError(code, message, { ...facts, disposition: error.disposition })
    return new AppError(code, `${message}, and the list that it opened may still be open`, {
      ...facts,
      suggestion: "Close the list: agent-desktop press escape; then run 'snapshot'",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  }

  /**
   * Clicks the combobox if it reports that it is open, because Escape would also close the bubble around a Chromium
   * list. Otherwise presses Escape, but only while a list is open: it would go to the dialog or window around it.
   */
  async #close(action: Select): Promise<Fate> {
    if (!(await this.#isOpen())) return "not opened"
    const now = await readSame(this.#ctx.adapter, this.#target, BEFORE_ACTING)
    if (now.states.includes("expanded") && (await this.#clickAgain())) return "closed again"
    await pressKey(this.#ctx, this.#target, { modifiers: [], key: "escape" }, action)
    return (await this.#isClosedSoon()) ? "closed again" : "left open"
  }

  /** True if the click that should only open the list has changed the choice, as in an app that is very slow. */
  async #isChosen(): Promise<boolean> {
    const now = await this.#ctx.adapter.read(this.#target.seen.handle).catch(unknownAfterwards)
    return now !== undefined && now.value !== this.#target.seen.value
  }

  /** True if a click closes the list. The list may cover its combobox, so this does not wait long for the click. */
  async #clickAgain(): Promise<boolean> {
    const soon = { ...this.#ctx, deadline: this.#ctx.deadline.slice(REACTION_MS) }
    try {
      await clickElement(soon, this.#target, { kind: "collapse" }, { pointOf: arrowPoint })
    } catch (error) {
      if (error instanceof AppError && error.disposition?.delivery === "not_delivered") return false
      throw error
    }
    return this.#isClosedSoon()
  }

  async #isClosedSoon(): Promise<boolean> {
    const closed = await until(
      this.#ctx,
      // A look may fail while the list is closing.
      async () => (await this.#isOpen().catch(unknownAfterwards)) === false || undefined,
      { pids: [this.#target.entry.pid], deadline: this.#ctx.deadline.slice(REACTION_MS) },
    )
    return closed === true
  }

  /** True if the combobox says so, if new options show, or if the display has one more popup. */
  async #isOpen(): Promise<boolean> {
    const now = await this.#ctx.adapter.read(this.#target.seen.handle)
    if (now?.states.includes("expanded") || (await this.#countPopups()) > this.#popups) return true
    return (await shownOptions(this.#ctx, this.#target, this.#before)) !== undefined
  }

  /** Checks the display, which also shows lists that are in no tree; otherwise the tree. */
  async #countPopups(): Promise<number> {
    const { pid } = this.#target.entry
    const shown = await this.#ctx.adapter.popups(pid)
    if (shown !== undefined) return shown
    return (await this.#ctx.adapter.surfaces(pid)).filter(({ type }) => type === "popover" || type === "menu")
      .length
  }
}

interface Options {
  readonly options: readonly SeenNode[]
  /** True if they are elements of the window, not of a popup or the combobox. */
  readonly isInPage: boolean
}

type Fate = "not opened" | "closed again" | "left open"

/** The option as a click target. An option in a list that the window opened is not in the window. */
function optionTarget(target: Target, option: SeenNode, window_id?: string): Target {
  const { role, name, value, identifier } = option
  const entry = {
    ...target.entry,
    role,
    name: nameForIdentity(name),
    value,
    identifier,
    window_id,
    context: undefined,
    neighbours: undefined,
  }
  return { ...target, seen: option, entry }
}

/** The arrow at the end of a combobox. In an editable one, a click in the middle only places the caret. */
function arrowPoint({ bounds, states }: Seen): Point | undefined {
  if (!bounds || bounds.width < 1 || bounds.height < 1 || states.includes("hidden")) return undefined
  const fromEnd = Math.min(ARROW_WIDTH, bounds.height, bounds.width) / 2
  return { x: Math.floor(bounds.x + bounds.width - fromEnd), y: Math.floor(bounds.y + bounds.height / 2) }
}

const ARROW_WIDTH = 24

/**
 * The visible options: those below the element itself, in a menu or popover, or those in the window that were not there
 * before.
 */
async function shownOptions(
  ctx: Context,
  target: Target,
  before: ReadonlySet<string>,
): Promise<Options | undefined> {
  const isNew = (node: SeenNode): boolean => !before.has(keyOf(node))
  // Firefox always has the selected option there.
  const own = await optionsIn(ctx, { kind: "element", handle: target.seen.handle })
  if (own.some(isNew)) return { options: own, isInPage: false }
  const window = await windowOf(ctx.adapter, target.entry)
  if (!window) return undefined
  for (const surface of ["menu", "popover"] as const) {
    const options = await optionsIn(ctx, { kind: "surface", window, surface })
    if (options.some(isNew)) return { options, isInPage: false }
  }
  const opened = (await optionsInWindow(ctx, target)).filter(isNew)
  return opened.length > 0 ? { options: opened, isInPage: true } : undefined
}

async function optionsInWindow(ctx: Context, { entry }: Target): Promise<readonly SeenNode[]> {
  const window = await windowOf(ctx.adapter, entry)
  return window ? optionsIn(ctx, { kind: "surface", window, surface: "window" }) : []
}

/** A role of options in a menu, list, table or tree. In a table, the cells are options and the row is not. */
const isOption = (role: Role): boolean =>
  role === "menuitem" || (hasTrait(role, "item") && hasTrait(role, "interactive"))

const optionsIn = async (ctx: Context, target: TreeTarget): Promise<readonly SeenNode[]> =>
  (await readOptions(ctx, target)).options

interface ReadOptions {
  readonly options: readonly SeenNode[]
  readonly isWhole: boolean
}

async function readOptions(ctx: Context, target: TreeTarget, includeHidden = false): Promise<ReadOptions> {
  const tree = await ctx.adapter
    .tree(target, {
      maxDepth: MAX_LEVELS,
      bounds: "interactive",
      includeHidden,
      interactiveOnly: true,
    })
    .catch((error: unknown) => {
      // The app may show no such surface.
      if (error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return undefined
      throw error
    })
  if (!tree) return { options: [], isWhole: true }
  const nodes = [...walk(tree.root)].map((place) => place.node)
  return {
    options: nodes.filter(
      (node) => isOption(node.role) && node.name && (includeHidden || !node.states.includes("hidden")),
    ),
    isWhole: tree.complete && nodes.every((node) => node.children_count === undefined),
  }
}

/** Identifies an option by its text and place. Not by address: Qt creates new objects for list rows at every read. */
const keyOf = ({ role, name, bounds }: SeenNode): string => `${role} ${name} ${bounds?.x},${bounds?.y}`
