import { Deadline } from "../../../src/deadline.ts"
import { STATE } from "../../../src/linux/atspi/bits.ts"
import { ROLE } from "../../../src/linux/atspi/roles.ts"
import { type Answer, Bus, DBUS, DBUS_PATH, type Message, method } from "../../../src/linux/dbus/bus.ts"
import { unmarshal } from "../../../src/linux/dbus/read.ts"
import type { Value } from "../../../src/linux/dbus/wire.ts"

/** An accessible object as a test describes it. */
export interface FakeNode {
  readonly role: keyof typeof ROLE
  readonly name?: string
  readonly description?: string
  /** In addition to SHOWING, VISIBLE, ENABLED and SENSITIVE, which `hidden` and `disabled` remove. */
  readonly states?: readonly (keyof typeof STATE)[]
  readonly hidden?: boolean
  readonly disabled?: boolean
  readonly interfaces?: readonly string[]
  readonly extents?: readonly [number, number, number, number]
  readonly text?: string
  readonly value?: number
  readonly actions?: readonly string[]
  readonly labelledBy?: string
  readonly children?: readonly FakeNode[]
  /** The last part of its path; a number by default. A repeated id lists the same object again. */
  readonly id?: string
  /** A child count that differs from the number of children. */
  readonly childCount?: number
  /** Members that get no answer. */
  readonly silent?: readonly string[]
  /** Custom answers, by member, or by property as "Get Name". */
  readonly answers?: Readonly<Record<string, Answer>>
}

export interface Call {
  readonly id: string
  readonly member: string
  readonly interface: string
}

export interface FakeOptions {
  readonly toolkit?: string
  readonly appName?: string
  /** The address of its direct socket. */
  readonly address?: string
}

const PATH = "/org/a11y/atspi/accessible/"
const OK = ["VISIBLE", "SHOWING", "ENABLED", "SENSITIVE"] as const

/** An application on a bus, made of fake nodes. It records every call. */
export class FakeApp implements Disposable {
  readonly bus: Bus
  readonly name: string
  readonly calls: Call[] = []
  readonly #nodes = new Map<string, { node: FakeNode; parent: string; index: number; children: string[] }>()
  #ids = 0

  static async start(address: string, root: FakeNode, options: FakeOptions = {}): Promise<FakeApp> {
    const bus = await Bus.open(address, Deadline.in(10_000))
    return new FakeApp(bus, await bus.name, root, options)
  }

  constructor(
    bus: Bus,
    name: string,
    root: FakeNode,
    { toolkit = "gtk", appName = "fake", address }: FakeOptions,
  ) {
    this.bus = bus
    this.name = name
    const application: FakeNode = {
      role: "APPLICATION",
      name: appName,
      id: "root",
      interfaces: ["Application"],
      children: [root],
      answers: {
        "Get ToolkitName": text(toolkit),
        ...(address ? { GetApplicationBusAddress: { signature: "s", values: [address] } } : {}),
      },
    }
    this.#add(application, "", 0)
    bus.serve((call) => this.#answer(call))
  }

  ref(id: string): { bus: string; path: string } {
    return { bus: this.name, path: PATH + id }
  }

  /** The members called on one object. */
  asked(id: string): string[] {
    return this.calls.filter((call) => call.id === id).map(({ member }) => member)
  }

  [Symbol.dispose](): void {
    this.bus.close()
  }

  #add(node: FakeNode, parent: string, index: number): string {
    const id = node.id ?? String(++this.#ids)
    if (this.#nodes.has(id)) return id
    const entry = { node, parent, index, children: [] as string[] }
    this.#nodes.set(id, entry)
    entry.children.push(...(node.children ?? []).map((child, at) => this.#add(child, id, at)))
    return id
  }

  #answer(call: Message): Answer | undefined {
    const id = call.path.slice(PATH.length)
    const args = unmarshal(call.signature, call.body)
    const member = call.member === "Get" ? `Get ${String(args[1])}` : call.member
    this.calls.push({ id, member, interface: call.member === "Get" ? String(args[0]) : call.interface })
    const entry = this.#nodes.get(id)
    if (!entry) return { error: "org.freedesktop.DBus.Error.UnknownObject", text: `no ${call.path}` }
    const { node } = entry
    if (node.silent?.includes(member) || node.silent?.includes("*")) return undefined
    return node.answers?.[member] ?? this.#speak(member, args, entry)
  }

  #speak(
    member: string,
    args: readonly Value[],
    { node, parent, index, children }: { node: FakeNode; parent: string; index: number; children: string[] },
  ): Answer {
    const at = typeof args[0] === "number" ? args[0] : 0
    switch (member) {
      case "GetState":
        return { signature: "au", values: [stateWords(node)] }
      case "GetRole":
        return { signature: "u", values: [ROLE[node.role]] }
      case "GetInterfaces":
        return { signature: "as", values: [interfacesOf(node).map((name) => `org.a11y.atspi.${name}`)] }
      case "GetChildren":
        return { signature: "a(so)", values: [children.map((id) => [this.name, PATH + id])] }
      case "GetChildAtIndex":
        return this.#reference(children[at])
      case "GetIndexInParent":
        return { signature: "i", values: [index] }
      case "GetExtents":
        return { signature: "(iiii)", values: [node.extents ?? [0, 0, 10, 10]] }
      case "GetRelationSet":
        return {
          signature: "a(ua(so))",
          values: [node.labelledBy ? [[2, [[this.name, PATH + node.labelledBy]]]] : []],
        }
      case "GetText":
        return { signature: "s", values: [(node.text ?? "").slice(at, Number(args[1]))] }
      case "GetName":
        return { signature: "s", values: [node.actions?.[at] ?? ""] }
      case "GetKeyBinding":
        return { signature: "s", values: [""] }
      case "Get Name":
        return text(node.name ?? "")
      case "Get Description":
        return text(node.description ?? "")
      case "Get ChildCount":
        return { signature: "v", values: [{ signature: "i", value: node.childCount ?? children.length }] }
      case "Get Parent":
        return {
          signature: "v",
          values: [
            { signature: "(so)", value: parent ? [this.name, PATH + parent] : ["", "/org/a11y/atspi/null"] },
          ],
        }
      case "Get CharacterCount":
        return { signature: "v", values: [{ signature: "i", value: (node.text ?? "").length }] }
      case "Get CurrentValue":
        return { signature: "v", values: [{ signature: "d", value: node.value ?? 0 }] }
      case "Get NActions":
        return { signature: "v", values: [{ signature: "i", value: node.actions?.length ?? 0 }] }
      default:
        return { error: "org.freedesktop.DBus.Error.UnknownMethod", text: member }
    }
  }

  #reference(id: string | undefined): Answer {
    return { signature: "(so)", values: [id ? [this.name, PATH + id] : ["", "/org/a11y/atspi/null"]] }
  }
}

/** Takes the registry's name on a bus and lists these applications. */
export async function startRegistry(
  address: string,
  apps: readonly { readonly bus: string; readonly path: string }[],
): Promise<Disposable> {
  const bus = await Bus.open(address, Deadline.in(10_000))
  await bus.call(
    method(`${DBUS}.RequestName`, "su", ["org.a11y.atspi.Registry", 0]),
    DBUS,
    DBUS_PATH,
    Deadline.in(10_000),
  )
  bus.serve((call) =>
    call.member === "GetChildren"
      ? { signature: "a(so)", values: [apps.map((app) => [app.bus, app.path])] }
      : { error: "org.freedesktop.DBus.Error.UnknownMethod" },
  )
  return { [Symbol.dispose]: () => bus.close() }
}

function text(value: string): Answer {
  return { signature: "v", values: [{ signature: "s", value }] }
}

function stateWords(node: FakeNode): number[] {
  const shown = OK.filter(
    (state) =>
      !(node.hidden && (state === "SHOWING" || state === "VISIBLE")) &&
      !(node.disabled && (state === "ENABLED" || state === "SENSITIVE")),
  )
  const words = [0, 0]
  for (const state of [...shown, ...(node.states ?? [])]) {
    const bit = STATE[state]
    words[bit >> 5] = ((words[bit >> 5] ?? 0) | (1 << (bit & 31))) >>> 0
  }
  return words
}

function interfacesOf(node: FakeNode): string[] {
  return [
    "Accessible",
    ...(node.interfaces ?? ["Component"]),
    ...(node.text === undefined ? [] : ["Text"]),
    ...(node.value === undefined ? [] : ["Value"]),
    ...(node.actions === undefined ? [] : ["Action"]),
  ]
}
