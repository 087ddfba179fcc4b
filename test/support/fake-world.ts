import type { Action } from "../../src/action.ts"
import type { Absence, Handle, InputEvent, Seen, SeenApp } from "../../src/adapter.ts"
import type { Grid } from "../../src/content/grid.ts"
import type { TextRange } from "../../src/content/text.ts"
import type { DesktopInfo, Ending, Launched, Permissions, SeenNotification } from "../../src/desktop.ts"
import type { ErrorCode } from "../../src/errors.ts"
import type { ActionName, DisplayInfo, Point, Rect, Role, State, Surface } from "../../src/node.ts"
import type { Appeared, PopupWatch } from "../../src/watch.ts"

/** A scripted desktop with the behaviour, and the misbehaviour, of real applications. */

/** The behaviour of an element's accessibility route when an action is sent. */
export type Route =
  | "works"
  /** Works, and reports that it saw the effect itself. */
  | "works_verified"
  /** Sends nothing, since the state is already reached. */
  | "already"
  /** There is no such route: nothing is sent. */
  | "absent"
  /** Refuses with ACTION_NOT_SUPPORTED: nothing is sent. */
  | "refuses"
  /** Fails before anything is sent, for a reason that input would not help with. */
  | "fails_unsent"
  /** Reports delivery, but nothing happens. */
  | "lies"
  /** Reports that delivery is uncertain; the action works, or is lost. */
  | "uncertain"
  | "uncertain_lost"
  /** Reports that it did nothing. One of them tells the truth, the other acts nevertheless. */
  | "says_no"
  | "says_no_but_works"
  /** Reports an error. In one case the action works nevertheless, in the other it does not. */
  | "errs_but_works"
  | "errs"
  /** Fails without saying whether the action was delivered. */
  | "errs_silently"
  | "crashes"

export interface Spec {
  readonly role: Role
  readonly name?: string
  readonly value?: string
  readonly description?: string
  readonly hint?: string
  readonly states?: readonly State[]
  readonly bounds?: Rect
  readonly actions?: readonly ActionName[]
  readonly identifier?: string
  readonly isRecycled?: boolean
  readonly tellsLate?: number
  readonly isTypedOver?: boolean
  readonly editedBy?: "F2" | "click"
  readonly valueLength?: number
  readonly clickPoint?: Seen["clickPoint"]
  readonly disclosure?: Seen["disclosure"]
  /** The number of children that it reports, if it has objects for only some of them. */
  readonly total?: number
  /** Not showing: left out of trees unless requested. */
  readonly hidden?: boolean
  /** True for a button that does not report that it opens a popover. Only the popover reports it. */
  readonly opensPopover?: boolean
  /** Access by row and column, for a table that has it. */
  readonly grid?: (element: FakeElement) => Grid<Handle>
  readonly route?: Route
  /** When effects show: at once, after some milliseconds, or when the command next waits for a change. */
  readonly delay?: number | "event"
  /** The app's reaction, in addition to the usual one of such a control. */
  readonly does?: (element: FakeElement, action: Action) => void
  readonly children?: readonly Spec[]
}

/** One attempt to act that reached an element. */
export interface Delivery {
  readonly name: string
  readonly by: "semantic" | "pointer" | "keyboard" | "wheel"
  readonly kind: string
}

export class FakeElement {
  readonly world: World
  readonly app: FakeApp
  readonly address: string
  role: Role
  name: string | undefined
  value: string | undefined
  description: string | undefined
  hint: string | undefined
  states: State[]
  bounds: Rect | undefined
  actions: ActionName[] | undefined
  identifier: string | undefined
  readonly isRecycled: boolean | undefined
  readonly tellsLate: number | undefined
  readonly isTypedOver: boolean | undefined
  readonly editedBy: "F2" | "click" | undefined
  readonly valueLength: number | undefined
  readonly clickPoint: Seen["clickPoint"]
  readonly disclosure: Seen["disclosure"]
  readonly total: number | undefined
  readonly opensPopover: boolean
  readonly grid: Spec["grid"]
  selection: TextRange | undefined
  hidden: boolean
  route: Route
  delay: number | "event"
  does: Spec["does"]
  parent: FakeElement | undefined
  children: FakeElement[]
  isGone = false
  /** Set if a user cannot reach the element although it still answers. */
  absence: Absence | undefined
  allSelected = false

  constructor(app: FakeApp, spec: Spec, parent?: FakeElement) {
    this.world = app.world
    this.app = app
    this.address = `:1.${app.pid}/object/${app.world.nextNumber()}`
    this.role = spec.role
    this.name = spec.name
    this.value = spec.value
    this.description = spec.description
    this.hint = spec.hint
    this.states = [...(spec.states ?? [])]
    this.bounds = spec.bounds
    this.actions = spec.actions && [...spec.actions]
    this.identifier = spec.identifier
    this.isRecycled = spec.isRecycled
    this.tellsLate = spec.tellsLate
    this.isTypedOver = spec.isTypedOver
    this.editedBy = spec.editedBy
    this.valueLength = spec.valueLength
    this.clickPoint = spec.clickPoint
    this.disclosure = spec.disclosure
    this.total = spec.total
    this.opensPopover = spec.opensPopover ?? false
    this.grid = spec.grid
    this.hidden = spec.hidden ?? false
    this.route = spec.route ?? "works"
    this.delay = spec.delay ?? 0
    this.does = spec.does
    this.parent = parent
    this.children = (spec.children ?? []).map((child) => new FakeElement(app, child, this))
  }

  /** Changes the state of the object and emits the event for it. */
  set(change: Partial<Pick<FakeElement, "role" | "name" | "value" | "states" | "bounds" | "hidden">>): void {
    Object.assign(this, change)
    this.world.emit()
  }

  add(spec: Spec, index = this.children.length): FakeElement {
    const child = new FakeElement(this.app, spec, this)
    this.children.splice(index, 0, child)
    this.world.emit()
    return child
  }

  remove(): void {
    for (const one of this.all()) one.isGone = true
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this)
    this.world.emit()
  }

  moveTo(parent: FakeElement, index = parent.children.length): void {
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this)
    this.parent = parent
    parent.children.splice(index, 0, this)
    this.world.emit()
  }

  /** The element and all below it, depth first. */
  all(): FakeElement[] {
    return [this, ...this.children.flatMap((child) => child.all())]
  }

  has(state: State): boolean {
    return this.states.includes(state)
  }

  /** Replaces one state by another, at the same index. */
  turn(from: State, to: State): void {
    this.states = this.states.map((state) => (state === from ? to : state))
  }
}

export class FakeApp {
  readonly world: World
  readonly name: string
  readonly pid: number
  readonly aliases: readonly string[]
  readonly bundleId: string | undefined
  /** The start time; undefined after the process has ended. */
  start: string | undefined
  /** How the process ended. */
  ending: Ending = {}
  readonly surfaces = new Map<Surface, FakeWindow>()

  constructor(
    world: World,
    name: string,
    facts: { pid?: number; aliases?: string[]; bundleId?: string } = {},
  ) {
    this.world = world
    this.name = name
    this.pid = facts.pid ?? 1000 + world.nextNumber()
    this.aliases = facts.aliases ?? []
    this.bundleId = facts.bundleId
    this.start = `start-${world.nextNumber()}`
  }

  get windows(): FakeWindow[] {
    return this.world.windows.filter((window) => window.app === this)
  }

  window(title: string, children: readonly Spec[], facts: WindowFacts = {}): FakeWindow {
    const window = new FakeWindow(this, title, { role: "window", name: title, children }, facts)
    this.world.windows.push(window)
    this.world.focused ??= window
    this.world.emit()
    return window
  }

  /** Shows a surface other than a window. */
  show(surface: Surface, root: Spec, facts: WindowFacts = {}): FakeWindow {
    const shown = new FakeWindow(this, root.name ?? "", root, { ...facts, id: facts.id ?? `${surface}-1` })
    this.surfaces.set(surface, shown)
    this.world.emit()
    return shown
  }

  hide(surface: Surface): void {
    for (const one of this.surfaces.get(surface)?.root.all() ?? []) one.isGone = true
    this.surfaces.delete(surface)
    this.world.emit()
  }

  /** Ends the process and closes its windows. */
  end(ending: Ending = {}): void {
    this.start = undefined
    this.ending = ending
    for (const window of this.windows) window.close()
    this.world.emit()
  }

  /** Gives the same pid to another process. */
  restart(): void {
    this.end()
    this.start = `start-${this.world.nextNumber()}`
  }
}

interface WindowFacts {
  readonly id?: string
  readonly bounds?: Rect
  readonly cannotShow?: boolean
  readonly accessible?: false
  readonly reason?: string
  readonly starting?: boolean
  readonly isSplash?: boolean
  readonly aliases?: readonly string[]
  /** The process that fills the window, if it is another one. */
  readonly filledBy?: FakeApp
}

export class FakeWindow {
  readonly app: FakeApp
  readonly id: string
  title: string
  readonly root: FakeElement
  bounds: Rect
  minimized = false
  /** The app's reaction when the window comes to the front. */
  onFocus: () => void = () => {}
  readonly facts: WindowFacts

  constructor(app: FakeApp, title: string, root: Spec, facts: WindowFacts) {
    this.app = app
    this.title = title
    this.facts = facts
    this.id = facts.id ?? `w-${app.world.nextNumber()}`
    this.bounds = facts.bounds ?? { x: 0, y: 0, width: 1000, height: 800 }
    this.root = new FakeElement(facts.filledBy ?? app, { bounds: this.bounds, ...root })
  }

  close(): void {
    for (const one of this.root.all()) one.isGone = true
    const { world } = this.app
    world.windows = world.windows.filter((window) => window !== this)
    if (world.focused === this) world.focused = world.windows[0]
    world.emit()
  }
}

export class World {
  apps: FakeApp[] = []
  /** The frontmost first. */
  windows: FakeWindow[] = []
  focused: FakeWindow | undefined
  clipboard: string | undefined
  /** Modal dialogs, by the id of the window that they block. */
  readonly dialogs = new Map<string, { readonly id: string }>()
  /** True if the default button of the window in front is disabled. */
  isEnterBlocked = false
  /** The screenshot of a window; undefined for one that cannot be decoded. */
  picture: ((width: number, height: number) => Uint8Array) | undefined
  notifications: SeenNotification[] = []
  /** The process whose popup is at a point, for a popup that no list of windows has. */
  ownerAt: (point: Point) => number | undefined = () => undefined
  /** The popups of a process that no tree has. */
  popups: (pid: number) => number | undefined = () => undefined
  /** The screen's reports about popups; undefined if it reports nothing. */
  watchPopups: () => PopupWatch | undefined = () => undefined
  /** Objects that apps have reported since the last call. */
  appeared: () => readonly Appeared[] = () => []
  /** The dialog that one of these objects is: the element, and the window that it is in. */
  openedAmong: (addresses: readonly string[]) => FakeElement | undefined = () => undefined
  displays: DisplayInfo[] = [
    { id: "d-0", bounds: { x: 0, y: 0, width: 1920, height: 1080 }, is_primary: true, scale: 1 },
  ]
  desktops: DesktopInfo[] = []
  permissions: Permissions = {
    granted: true,
    accessibility: { state: "granted" },
    screen_recording: { state: "not_required" },
  }
  launch: (app: string, args: readonly string[]) => Launched = () => {
    throw new Error("this world launches nothing")
  }
  /** The reaction to a key of the app that has the focus. */
  onKey: (combo: string) => void = () => {}
  /** True if the app never finishes reading its input. */
  isBusy = false
  /** Called before the app reports that it has read all input. The app may finish work here. */
  onCaughtUp: () => void = () => {}
  /** The editor that has opened in the place of a cell. */
  editorOver: (cell: FakeElement) => FakeElement | undefined = () => undefined
  /** Called when the pointer arrives at a point. The app may react. */
  onPointer: (at: Point) => void = () => {}
  /** Called between the last look and the press. The app may change. */
  onPress: () => void = () => {}
  /** Called before any kind of input arrives. The app may change. */
  onInput: () => void = () => {}
  quit: (app: SeenApp, force: boolean) => string = () => "quit"

  /** False if elements have no address, as on macOS. */
  hasAddresses = true
  /** True if the app never reports a change. */
  isSilent = false
  /** False if the adapter cannot find the element at a point. */
  knowsHits = true
  /** True if windows do not come to the front on request. */
  refusesFocus = false
  /** Maximum number of nodes in a tree. */
  nodeLimit = Number.POSITIVE_INFINITY

  readonly calls: string[] = []
  readonly deliveries: Delivery[] = []
  readonly keys: string[] = []
  /** All synthesised input, as requested. */
  readonly inputs: InputEvent[] = []
  readonly #hangs = new Map<string, ErrorCode>()
  readonly #failures = new Map<string, (Error | undefined)[]>()
  readonly #later: (() => void)[] = []
  readonly #listeners = new Set<() => void>()
  #numbers = 0

  app(name: string, facts: { pid?: number; aliases?: string[]; bundleId?: string } = {}): FakeApp {
    const app = new FakeApp(this, name, facts)
    this.apps.push(app)
    return app
  }

  /** The only element of that name, anywhere. */
  at(name: string): FakeElement {
    const found = this.elements().filter((element) => element.name === name)
    if (found.length !== 1) throw new Error(`${found.length} elements are named ${name}`)
    return found[0]!
  }

  elements(): FakeElement[] {
    const surfaces = this.apps.flatMap((app) => [...app.surfaces.values()])
    return [...this.windows, ...surfaces].flatMap((window) => window.root.all())
  }

  windowOf(element: FakeElement): FakeWindow | undefined {
    const root = rootOf(element)
    const surfaces = this.apps.flatMap((app) => [...app.surfaces.values()])
    return [...this.windows, ...surfaces].find((window) => window.root === root)
  }

  /** Makes all later calls of this method hang until the deadline. */
  hang(method: string, code: ErrorCode = "APP_UNRESPONSIVE"): void {
    this.#hangs.set(method, code)
  }

  /** Makes the next calls of this method fail, one for each error; undefined lets one succeed. */
  fail(method: string, ...errors: (Error | undefined)[]): void {
    this.#failures.set(method, errors)
  }

  hangOf(method: string): ErrorCode | undefined {
    return this.#hangs.get(method)
  }

  failureOf(method: string): Error | undefined {
    return this.#failures.get(method)?.shift()
  }

  /** The deliveries to the element of that name, in order, such as `semantic click`. */
  sent(name: string): string[] {
    return this.deliveries.filter((one) => one.name === name).map(({ by, kind }) => `${by} ${kind}`)
  }

  emit(): void {
    if (this.isSilent) return
    for (const listener of this.#listeners) listener()
  }

  /** Calls back on every change until the returned function is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Runs this when a command next waits for a change. */
  later(effect: () => void): void {
    this.#later.push(effect)
  }

  runLater(): void {
    for (const effect of this.#later.splice(0)) effect()
  }

  nextNumber(): number {
    this.#numbers += 1
    return this.#numbers
  }
}

export function rootOf(element: FakeElement): FakeElement {
  let root = element
  while (root.parent) root = root.parent
  return root
}
