import { describe, expect, test } from "bun:test"
import { INTERFACE } from "../../../src/linux/atspi/bits.ts"
import type { Item } from "../../../src/linux/atspi/cache.ts"
import { CachedSource, parseItems } from "../../../src/linux/atspi/cache.ts"
import { Element } from "../../../src/linux/atspi/element.ts"
import { LiveSource } from "../../../src/linux/atspi/facts.ts"
import { ROLE } from "../../../src/linux/atspi/roles.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import { walkTree } from "../../../src/linux/atspi/walk.ts"
import { message, parseMessage } from "../../../src/linux/dbus/message.ts"
import { viewOf } from "../../../src/linux/dbus/read.ts"
import { type Value, WireError } from "../../../src/linux/dbus/wire.ts"

const APP: Value = [":1.5", "/org/a11y/atspi/accessible/root"]
const SHOWING = [1 << 25, 0]

function item(
  id: string,
  parent: string,
  index: number,
  childCount: number,
  role: number = ROLE.PANEL,
  states = SHOWING,
): Value {
  const ref = (name: string): Value => [":1.5", `/${name}`]
  const interfaces = ["org.a11y.atspi.Accessible", "org.a11y.atspi.Component", "test.Unknown"]
  return [ref(id), APP, ref(parent), index, childCount, interfaces, `name of ${id}`, role, "", states]
}

function items(values: readonly Value[], little = true): Map<string, Item> {
  const bytes = message(2, 1, { replySerial: 1 }, "a((so)(so)(so)iiassusau)", [values], little)
  return parseItems(parseMessage(bytes, viewOf(bytes), 0, bytes.length))
}

/** A source that fails with "asked", since the cache should have the answer. */
class NoApp extends LiveSource {
  override children(): Promise<never> {
    return Promise.reject(new Error("asked"))
  }
}

function source(values: readonly Value[]): CachedSource {
  // The bus is never used: every answer comes from the cache, or from NoApp.
  const atspi = Object.create(null)
  return new CachedSource(":1.5", items(values), new NoApp(atspi, { traits: TRAITS.gtk4 }, false))
}

/** A plain copy of an item, which reads its lazy members too. */
const plain = ({ ref, parent, index, childCount, interfaces, name, role, description, states }: Item) => ({
  ref,
  parent,
  index,
  childCount,
  interfaces,
  name,
  role,
  description,
  states,
})

const below = (cached: CachedSource, id: string): string[] | undefined =>
  cached.cachedChildren({ bus: ":1.5", path: `/${id}` })?.map(({ ref }) => ref.path.slice(1))

describe("cache items", () => {
  test("are read in either byte order", () => {
    for (const little of [true, false]) {
      expect([...items([item("a", "root", 0, 2, ROLE.FRAME)], little).values()].map(plain)).toEqual([
        {
          ref: { bus: ":1.5", path: "/a" },
          parent: "/root",
          index: 0,
          childCount: 2,
          interfaces: INTERFACE.Accessible | INTERFACE.Component,
          name: "name of a",
          role: ROLE.FRAME,
          description: "",
          states: 2 ** 25,
        },
      ])
    }
  })

  test("of the older form, with a list of children, are accepted too", () => {
    const old: Value = [
      [":1.5", "/a"],
      APP,
      [":1.5", "/root"],
      [[":1.5", "/b"]],
      [],
      "n",
      ROLE.PANEL,
      "d",
      SHOWING,
    ]
    const bytes = message(2, 1, { replySerial: 1 }, "a((so)(so)(so)a(so)assusau)", [[old]])
    const [only] = parseItems(parseMessage(bytes, viewOf(bytes), 0, bytes.length)).values()
    expect(only).toMatchObject({ childCount: 1, index: -1, name: "n", description: "d" })
  })

  test("that are cut off or have wrong lengths are rejected, and never make the parser hang", () => {
    const whole = message(2, 1, { replySerial: 1 }, "a((so)(so)(so)iiassusau)", [
      [item("a", "root", 0, 1), item("b", "a", 0, 0)],
    ])
    const body = parseMessage(whole, viewOf(whole), 0, whole.length).body.at
    for (let at = body; at + 4 <= whole.length; at += 4) {
      for (const lie of [0xffffffff, 0x80000000, 0x7fffffff, 0x10000, 400, 0]) {
        const bytes = Buffer.from(whole)
        viewOf(bytes).setUint32(at, lie, true)
        try {
          for (const one of parseItems(parseMessage(bytes, viewOf(bytes), 0, bytes.length)).values())
            plain(one)
        } catch (error) {
          expect(error).toBeInstanceOf(WireError)
        }
      }
    }
  })

  test("of an unknown form are rejected", () => {
    const bytes = message(2, 1, { replySerial: 1 }, "as", [["x"]])
    expect(() => parseItems(parseMessage(bytes, viewOf(bytes), 0, bytes.length))).toThrow(
      "cache items of type 'as'",
    )
  })
})

describe("children from the cache", () => {
  test("are in order", () => {
    const cached = source([item("p", "root", 0, 2), item("b", "p", 1, 0), item("a", "p", 0, 0)])
    expect(below(cached, "p")).toEqual(["a", "b"])
  })

  test("are not trusted if one is missing or has no index", () => {
    expect(below(source([item("p", "root", 0, 2), item("a", "p", 0, 0)]), "p")).toBeUndefined()
    expect(below(source([item("p", "root", 0, 1), item("a", "p", -1, 0)]), "p")).toBeUndefined()
    expect(below(source([item("p", "root", 0, -1)]), "p")).toBeUndefined()
  })

  test("are not the pages that GTK 4 puts between a stack and its content", () => {
    const stack = [item("p", "root", 0, 1), item("page", "p", 0, 1), item("shown", "page", 1, 0)]
    expect(below(source(stack), "p")).toBeUndefined()
  })

  test("are requested from the application if the cache does not have them", async () => {
    const cached = source([item("p", "root", 0, 2)])
    expect(cached.children({ bus: ":1.5", path: "/p" }, true)).rejects.toThrow("asked")
  })

  test("are not needed for a closed menu", () => {
    const closed = [item("m", "root", 0, -1, ROLE.MENU), item("i", "m", -1, 0, ROLE.MENU_ITEM, [0, 0])]
    expect(source(closed).children({ bus: ":1.5", path: "/m" }, true)).toEqual([])
  })
})

test("a tree that the cache contains completely is read without a question", async () => {
  const items = [
    item("w", "root", 0, 2, ROLE.FRAME),
    item("a", "w", 0, 1),
    item("b", "w", 1, 0),
    item("c", "a", 0, 0),
  ]
  const origin = { pid: 1, app: "app", traits: TRAITS.gtk4, shift: { x: 0, y: 0 } }
  const window = new Element({ bus: ":1.5", path: "/w" }, origin)
  const options = {
    maxDepth: 10,
    bounds: "interactive",
    includeHidden: false,
    interactiveOnly: false,
  } as const
  // There is no bus: a question would fail.
  const { root, complete } = await walkTree(Object.create(null), source(items), window, options)
  expect(complete).toBe(true)
  expect(root.children.map(({ name, children }) => [name, children.length])).toEqual([
    ["name of a", 1],
    ["name of b", 0],
  ])
})
