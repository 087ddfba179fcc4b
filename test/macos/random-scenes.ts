import type { Json } from "../support/json.ts"
import { appWith } from "./adapter-desk.ts"

/** One command on one element of a random window. The element is named "It", and its neighbours are not. */
export interface Scene {
  readonly act: Act
  readonly scene: object
  /** The reaction of the app to the action. */
  readonly way: string
  /** A call of the command that fails, hangs, or finds its element gone. */
  readonly fault?: string
  /** Arguments of the command besides those of the act. */
  readonly more: Readonly<Record<string, unknown>>
}

export interface Act {
  readonly command: string
  readonly args?: object
  readonly node: Json
  /** The action or the attribute that the app receives. */
  readonly asked: string
  /** True if a repetition would have another effect. */
  readonly isOnce?: boolean
  /** Its effect in the scene. Absent if only the app's note shows the effect. */
  readonly effect?: object
  /** The state of the element once it is done. */
  readonly isDone?: (now: Json) => boolean
  /** Its state if nothing was done. */
  readonly isUndone?: (now: Json) => boolean
}

export function sceneOf(seed: number): Scene {
  const chance = new Chance(seed)
  const act = chance.of(ACTS)
  const [way, taking, reactions] = chance.of(waysOf(act, chance))
  const [x, y] = [140 + chance.below(500), 150 + chance.below(400)]
  const target = {
    AXTitle: "It",
    id: "it",
    frame: [x, y, 60, 24],
    ...act.node,
    ...taking,
    on: { ...(chance.is(20) ? { AXFocused: note("focused") } : {}), [act.asked]: reactions },
    ...(chance.is(30) && !("errors" in taking) ? { errors: readErrors(chance) } : {}),
  }
  // Some neighbours cover the element, unless hit tests answer with the page as a whole: then only the app knows which
  // element is on top.
  const hits = chance.is(50)
  const place = () =>
    hits && chance.is(40)
      ? [x - 20 + chance.below(40), y - 15 + chance.below(30), 60, 24]
      : [120 + chance.below(500), 130 + ((y - 90 + chance.below(340)) % 420), 60, 24]
  const neighbour = (n: number) => ({
    AXRole: chance.of(["AXButton", "AXCheckBox", "AXTextField", "AXStaticText", "AXImage", "AXUnknown"]),
    AXTitle: chance.is(20) ? "" : `Other ${n}`,
    frame: place(),
    on: { AXPress: note("neighbour"), AXOpen: note("neighbour"), AXValue: note("neighbour") },
    ...(chance.is(30) ? { errors: readErrors(chance) } : {}),
    ...(chance.is(5) ? { bare: true } : {}),
    ...(chance.is(3) ? { error: chance.of(READ_CODES) } : {}),
    ...(chance.is(10) ? { latency: { call_us: chance.below(40_000) } } : {}),
  })
  let inner: object[] = [target, ...Array.from({ length: chance.below(5) }, (_, i) => neighbour(i))]
  if (chance.is(50)) inner.reverse()
  for (let level = chance.below(6); level > 0; level--)
    inner = [
      {
        AXRole: chance.of(["AXGroup", "AXScrollArea", "AXSplitGroup", "AXWebArea", "AXUnknown", "AXList"]),
        frame: [110, 120, 700, 500],
        hits,
        children: inner,
        ...(chance.is(10) ? { errors: { AXChildren: { batch: -25200 } } } : {}),
      },
      ...(chance.is(30) ? [neighbour(10 + level)] : []),
    ]
  const more = {
    ...(chance.is(30) ? { input: chance.of(["semantic", "physical"]) } : {}),
    ...(chance.is(50) ? { timeout_ms: chance.of([120, 400, 1500, 10_000]) } : {}),
  }
  const app = chance.is(15) ? { latency: { call_us: chance.below(8000) } } : {}
  const fault = chance.is(25)
    ? `${1 + chance.below(90)}:${chance.of(["hang", "dead", ...READ_CODES, -25202, -25201, -25299])}`
    : undefined
  return { act, way, more, fault, scene: appWith(inner, app) }
}

/** A reaction of the app: its name, the members that the element needs for it, and the effects of the action. */
type Way = readonly [string, object, readonly object[]]

function waysOf({ asked, effect, node }: Act, chance: Chance): readonly Way[] {
  const done = note("done")
  const lie = chance.of(CODES)
  const obeys = (way: string, taking: object, ...then: object[]): Way => [way, taking, [...done, ...then]]
  const late = { latency: { [asked]: chance.below(9_000_000) } }
  const after_ms = chance.below(4000)
  const delayed = { actions: { ...node.actions, [asked]: effect ? [{ ...effect, after_ms }] : [] } }
  return [
    obeys("obeys", {}),
    obeys("obeys", {}),
    obeys(`obeys and answers ${lie}`, { lies: { [asked]: lie } }),
    obeys("answers late", late),
    obeys(`answers ${lie}, late`, { ...late, lies: { [asked]: lie } }),
    ...(WRITTEN.has(asked) ? [] : [["acts later", delayed, [{ ...done[0], after_ms }]] as const]),
    obeys("goes away", {}, { do: "remove", ...(chance.is(50) ? { after_ms } : {}) }),
    obeys("changes its role", {}, { do: "set", attribute: "AXRole", value: "AXGroup" }),
    obeys("changes its name", {}, { do: "set", attribute: "AXTitle", value: "Other" }),
    obeys("opens a sheet", {}, { do: "insert", node: "main", child: SHEET }),
    obeys("hangs afterwards", {}, { do: "hang", app: 501 }),
    obeys("ends the app", {}, { do: "quit", app: 501 }),
    ["ignores", { ignores: [asked] }, done],
    ["refuses", { errors: { [asked]: { set: chance.of([...CODES, ...REFUSALS]) } } }, done],
    ["does not answer", { hang: [asked] }, done],
    ["dies", { dies_after: chance.below(30) }, done],
  ]
}

/** Attributes that an app stores at once. */
const WRITTEN: ReadonlySet<string> = new Set(["AXValue", "AXSelectedText", "AXFocused", "AXExpanded"])

const note = (text: string) => [{ do: "note", text }]
const readErrors = (chance: Chance) => ({ [chance.of(READS)]: chance.of(READ_CODES) })

const SHEET = {
  AXRole: "AXSheet",
  window: 9002,
  frame: [200, 130, 500, 220],
  children: [{ AXRole: "AXButton", AXTitle: "OK", frame: [480, 310, 90, 24] }],
}

const SIZES = ["Small", "Large"].map((AXTitle) => ({ AXRole: "AXMenuItem", AXTitle, frame: [0, 0, 90, 22] }))

const isOn = (now: Json) => now.AXValue === 1 || now.AXValue === true
const has = (text: string) => (now: Json) => `${now.AXValue ?? ""}`.includes(text)
const once = (command: string, asked: string, node: Json): Act => ({ command, asked, node, isOnce: true })
const changing = (now: Json, asked: string, value: unknown) => ({
  asked,
  isDone: (it: Json) => it[now] === value,
  isUndone: (it: Json) => it[now] !== value,
})

const ACTS: readonly Act[] = [
  once("click", "AXPress", { AXRole: "AXButton" }),
  once("click", "AXPress", { AXRole: "AXLink" }),
  once("click", "AXPress", { AXRole: "AXGroup", actions: { AXPress: [] } }),
  once("click", "AXPress", { AXRole: "AXMenuButton", actions: { AXPress: [] } }),
  once("click", "AXPress", { AXRole: "AXKnopf", actions: { AXPress: [] } }),
  once("click", "AXOpen", { AXRole: "AXImage", actions: { AXOpen: [] } }),
  once("click", "AXOpen", { AXRole: "AXCell", actions: { AXOpen: [] } }),
  once("double-click", "AXOpen", { AXRole: "AXCell", actions: { AXOpen: [] } }),
  once("right-click", "AXShowMenu", { AXRole: "AXButton", actions: { AXShowMenu: [] } }),
  {
    command: "expand",
    node: { AXRole: "AXDisclosureTriangle" },
    effect: { do: "toggle" },
    ...changing("AXValue", "AXPress", 1),
  },
  ...["AXCheckBox", "AXSwitch"].flatMap((AXRole): Act[] => {
    const press = { asked: "AXPress", effect: { do: "toggle" } }
    const on = { ...press, isDone: isOn, isUndone: (now: Json) => !isOn(now) }
    return [
      { command: "check", node: { AXRole }, ...on },
      { command: "toggle", node: { AXRole }, isOnce: true, ...on },
      { command: "uncheck", node: { AXRole, AXValue: 1 }, ...press, isDone: on.isUndone, isUndone: isOn },
    ]
  }),
  ...["AXTextField", "AXTextArea", "AXSearchField"].flatMap((AXRole): Act[] => {
    const node = { AXRole, AXValue: "old" }
    const isUndone = (now: Json) => now.AXValue === "old"
    return [
      {
        command: "set-value",
        args: { value: "fresh" },
        node,
        ...changing("AXValue", "AXValue", "fresh"),
        isUndone,
      },
      { command: "clear", node, ...changing("AXValue", "AXValue", ""), isUndone },
      {
        command: "type",
        args: { text: "Q7" },
        node,
        asked: "AXSelectedText",
        isOnce: true,
        isDone: has("Q7"),
        isUndone,
      },
    ]
  }),
  {
    command: "set-value",
    args: { value: "70" },
    node: { AXRole: "AXSlider" },
    ...changing("AXValue", "AXValue", 70),
  },
  {
    command: "set-value",
    args: { value: "3" },
    node: { AXRole: "AXIncrementor" },
    ...changing("AXValue", "AXIncrement", 3),
    effect: { do: "add", by: 1 },
  },
  {
    command: "select",
    args: { value: "Large" },
    node: {
      AXRole: "AXPopUpButton",
      AXValue: "Small",
      menu: { AXRole: "AXMenu", children: SIZES, frame: [0, 0, 90, 60] },
    },
    ...changing("AXValue", "AXPress", "Large"),
    effect: { do: "open_menu" },
  },
  {
    command: "select",
    args: { value: "Large" },
    node: {
      AXRole: "AXPopUpButton",
      AXValue: "Small",
      menu: { AXRole: "AXMenu", children: SIZES, frame: [0, 0, 90, 60] },
    },
    ...changing("AXValue", "AXShowMenu", "Large"),
    effect: { do: "open_menu" },
  },
  { command: "focus", node: { AXRole: "AXTextField" }, ...changing("focused", "AXFocused", true) },
  {
    command: "expand",
    node: { AXRole: "AXComboBox", AXExpanded: false, settable: ["AXExpanded"] },
    ...changing("AXExpanded", "AXExpanded", true),
  },
]

const CODES = [-25200, -25202, -25204, -25205, -25206, -25207, -25208, -25212, -25213]
/** Codes that prove that nothing was done. */
const REFUSALS = [-25201, -25211]
const READ_CODES = [-25200, -25205, -25212, -25204]
const READS = ["AXDescription", "AXHelp", "AXSubrole", "AXIdentifier", "AXEnabled", "AXValueDescription"]

class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }

  is(percent: number): boolean {
    return this.below(100) < percent
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}
