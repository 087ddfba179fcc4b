import { accessibility, windowBridge } from "../../ffi/accessibility.ts"
import { Owned } from "../../ffi/core-foundation.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, unresponsive } from "../errors.ts"
import type { Point } from "../node.ts"
import { pause } from "../until.ts"
import { ageOf, bundleOf, processStart, YOUNG_MS } from "./apps.ts"
import { entryOf, itemsOf, textOf } from "./cf.ts"
import type { Connection } from "./connection.ts"
import {
  API_DISABLED,
  accessibilityDenied,
  CANNOT_COMPLETE,
  FAILURE,
  Failure,
  INVALID_ELEMENT,
  isAbsent,
  isUnread,
  outOfTime,
  readFailed,
  wordFor,
} from "./failure.ts"
import { type Attributes, asElements, decode, type Element, type Value } from "./value.ts"

/** Time limits for one answer of an app, and for the probe that finds out whether it answers at all. */
const ANSWER_MS = 1000
const PROBE_MS = 250

const out = new BigUint64Array(1)
const flag = new Uint8Array(1)
const number = new Int32Array(1)
const long = new BigInt64Array(1)
const unsigned = new Uint32Array(1)

/** The accessibility calls of one command, each limited by its deadline. */
export class Ax {
  readonly connection: Connection
  readonly deadline: Deadline

  constructor(connection: Connection, deadline: Deadline) {
    this.connection = connection
    this.deadline = deadline
  }

  /** The same calls with an earlier deadline. */
  within(ms: number): Ax {
    return new Ax(this.connection, this.deadline.slice(ms))
  }

  /** Reads several attributes in one round trip. An attribute that the element lacks is undefined or a Failure. */
  read(element: Element, names: readonly string[]): Attributes | Failure {
    const list = this.connection.names(names)
    const copy = accessibility().AXUIElementCopyMultipleAttributeValues
    const together = this.#copy(
      element,
      () => copy(element.ref, list, 0, out),
      (ref) => {
        const items = itemsOf(ref)
        // In a list of another length, values could belong to the wrong names.
        if (items?.length !== names.length) return new Failure(FAILURE)
        const values: Record<string, Value> = {}
        for (const [i, name] of names.entries()) values[name] = this.#decode(items[i]!)
        return values
      },
    )
    // Some custom elements answer only one question at a time, and report it with this code.
    return isAbsent(together) ? this.#readOneByOne(element, names) : together
  }

  #readOneByOne(element: Element, names: readonly string[]): Attributes | Failure {
    const values: Record<string, Value> = {}
    for (const name of names) {
      const value = this.get(element, name)
      if (isUnread(value)) return value
      values[name] = value
    }
    return values
  }

  get(element: Element, name: string): Value {
    const attribute = this.connection.name(name)
    const copy = accessibility().AXUIElementCopyAttributeValue
    return this.#copy(
      element,
      () => copy(element.ref, attribute, out),
      (ref) => this.#decode(ref),
    )
  }

  /** Reads an attribute that takes a parameter, such as a range. */
  answer(element: Element, name: string, parameter: bigint): Value {
    return this.answerAs(element, name, parameter, (ref) => this.#decode(ref))
  }

  /** The same for an answer that is more than one value. The answer is released after `use`. */
  answerAs<T>(element: Element, name: string, parameter: bigint, use: (ref: bigint) => T): T | Failure {
    const attribute = this.connection.name(name)
    const copy = accessibility().AXUIElementCopyParameterizedAttributeValue
    return this.#copy(element, () => copy(element.ref, attribute, parameter, out), use)
  }

  /** A value of a dictionary that the caller holds. */
  entry(dictionary: bigint, key: string): Value {
    return this.#decode(entryOf(dictionary, this.connection.name(key)))
  }

  /** Reads one attribute and throws if the read fails. For callers that treat undefined as proof of absence. */
  must(element: Element, name: string): Value {
    const value = this.get(element, name)
    if (isUnread(value) && value.code !== INVALID_ELEMENT) throw readFailed(name, value.code)
    return value
  }

  /** Reads part of an attribute that is a list of elements. */
  some(element: Element, name: string, from: number, count: number): readonly Element[] | Failure {
    const attribute = this.connection.name(name)
    const copy = accessibility().AXUIElementCopyAttributeValues
    return this.#copy(
      element,
      () => copy(element.ref, attribute, from, count, out),
      (ref) => asElements(this.#decode(ref)),
    )
  }

  /** The length of an attribute that is a list; 0 if the element does not have it. */
  count(element: Element, name: string): number {
    const attribute = this.connection.name(name)
    long[0] = 0n
    const ask = accessibility().AXUIElementGetAttributeValueCount
    const error = this.#ask(element, () => ask(element.ref, attribute, long))
    if (error !== 0 && isUnread(new Failure(error))) throw readFailed(name, error)
    return error === 0 ? Number(long[0]) : 0
  }

  /** The actions that the element offers. */
  actions(element: Element): ReadonlySet<string> | Failure {
    const copy = accessibility().AXUIElementCopyActionNames
    const names = this.#copy(
      element,
      () => copy(element.ref, out),
      (ref) => new Set(Array.from(itemsOf(ref) ?? [], (item) => textOf(item) ?? "")),
    )
    return names instanceof Failure && !isUnread(names) ? new Set() : names
  }

  /** True if the app says that the attribute can be written; a failed read counts as no. */
  canSet(element: Element, name: string): boolean {
    return this.isSettable(element, name) === true
  }

  isSettable(element: Element, name: string): boolean | Failure {
    const attribute = this.connection.name(name)
    flag[0] = 0
    const ask = accessibility().AXUIElementIsAttributeSettable
    const error = this.#ask(element, () => ask(element.ref, attribute, flag))
    return error === 0 ? flag[0] !== 0 : new Failure(error)
  }

  /** Writes an attribute, without a retry, and returns the AXError. */
  set(element: Element, name: string, value: bigint): number {
    const attribute = this.connection.name(name)
    this.#bound()
    return this.#known(accessibility().AXUIElementSetAttributeValue(element.ref, attribute, value))
  }

  /** Performs an action, without a retry, and returns the AXError. */
  perform(element: Element, action: string): number {
    const name = this.connection.name(action)
    this.#bound()
    return this.#known(accessibility().AXUIElementPerformAction(element.ref, name))
  }

  /** Subscribes an observer to a notification of the element and everything below it. */
  subscribe(observer: bigint, element: Element, notification: string): number {
    const name = this.connection.name(notification)
    this.#bound()
    return this.#known(accessibility().AXObserverAddNotification(observer, element.ref, name, 0n))
  }

  /** The element at a point, by the hit test of the system or of one app. */
  elementAt({ x, y }: Point, within = this.connection.system): Element | undefined {
    this.#bound()
    out[0] = 0n
    const error = this.#known(accessibility().AXUIElementCopyElementAtPosition(within.ref, x, y, out))
    const ref = out[0]
    if (!ref) return undefined
    const element = this.connection.adopt(ref)
    return error === 0 ? element : undefined
  }

  /** The pid of the app that the element belongs to; 0 if it is not known. */
  pid(element: Element): number {
    number[0] = 0
    return accessibility().AXUIElementGetPid(element.ref, number) === 0 ? number[0]! : 0
  }

  /** The window server's number of the window that contains the element; undefined if the bridge is missing. */
  windowNumber(element: Element): number | undefined {
    const bridge = windowBridge()
    if (!bridge) return undefined
    unsigned[0] = 0
    this.#bound()
    return this.#known(bridge._AXUIElementGetWindow(element.ref, unsigned)) === 0
      ? unsigned[0] || undefined
      : undefined
  }

  #decode(ref: bigint): Value {
    return decode(ref, (element) => this.connection.intern(element))
  }

  /** Calls a Copy function, and releases what it returned, even together with an error code. */
  #copy<T>(element: Element, copy: () => number, use: (ref: bigint) => T): T | Failure {
    const error = this.#ask(element, () => {
      out[0] = 0n
      const code = copy()
      if (code !== 0 && out[0]) new Owned(out[0])[Symbol.dispose]()
      return code
    })
    if (error !== 0) return new Failure(error)
    using owned = new Owned(out[0]!)
    return use(owned.ref)
  }

  /** Sends a read. A read that cannot complete is retried once if the app answers at all. */
  #ask(element: Element, send: () => number): number {
    this.#bound()
    const error = this.#known(send())
    if (error === API_DISABLED) this.#refuse(element)
    if (error !== CANNOT_COMPLETE) return error
    if (!this.#answers(element)) return INVALID_ELEMENT
    this.#bound()
    return this.#known(send())
  }

  /** Throws if the permission is gone; otherwise returns the code. Some apps answer "API disabled" regardless. */
  #known(code: number): number {
    if (code !== API_DISABLED || accessibility().AXIsProcessTrusted() !== 0) return code
    throw accessibilityDenied()
  }

  /** Throws if an app refused. An element without a process belongs to the system, which may lack an answer. */
  #refuse(element: Element): void {
    const pid = this.pid(element)
    if (pid === 0) return
    throw new AppError("APP_UNRESPONSIVE", `App '${nameOf(pid)}' refuses accessibility clients`, {
      suggestion: "Look at it with 'screenshot'; other apps are not affected",
      platformDetail: wordFor(API_DISABLED),
      details: { pid },
    })
  }

  /** False if the app of the element has ended. Throws if it runs but does not answer. */
  #answers(element: Element): boolean {
    const pid = this.pid(element)
    if (pid === 0) return true
    if (processStart(pid) === undefined) return false
    const app = this.connection.app(pid)
    this.#bound(PROBE_MS)
    out[0] = 0n
    const since = performance.now()
    const error = accessibility().AXUIElementCopyAttributeValue(app.ref, this.connection.name("AXRole"), out)
    using _role = new Owned(out[0]!)
    if (error !== CANNOT_COMPLETE) return true
    // A process that has just started says at once that it cannot answer yet.
    const isFast = performance.now() - since < PROBE_MS / 2
    if (isFast && (ageOf(pid) ?? YOUNG_MS) < YOUNG_MS) throw starting(nameOf(pid), pid)
    if (this.deadline.expired) throw outOfTime()
    throw unresponsive(nameOf(pid), { platformDetail: wordFor(CANNOT_COMPLETE), details: { pid } })
  }

  #bound(ms = ANSWER_MS): void {
    const { remaining } = this.deadline
    if (remaining <= 0) throw outOfTime()
    this.connection.trusted ||= accessibility().AXIsProcessTrusted() !== 0
    if (!this.connection.trusted) throw accessibilityDenied()
    this.connection.limitAnswers(Math.min(ms, Math.ceil(remaining)))
  }
}

const nameOf = (pid: number): string => bundleOf(pid)?.name ?? `pid ${pid}`

function starting(app: string, pid: number): AppError {
  return new AppError("APP_UNRESPONSIVE", `App '${app}' has just started and does not answer yet`, {
    suggestion: "Retry with a larger --timeout-ms",
    platformDetail: wordFor(CANNOT_COMPLETE),
    details: { pid, starting: true },
  })
}

/** The time between two questions to a process that has just started. */
const STARTING_MS = 50

/** Repeats the question while a process that has just started does not answer yet. */
export async function whenUp<T>({ deadline }: Ax, ask: () => T | Promise<T>): Promise<T> {
  for (let last: unknown; ; ) {
    try {
      return await ask()
    } catch (error) {
      const isStarting = error instanceof AppError && error.details?.starting === true
      if (deadline.expired) throw last ?? error
      if (!isStarting) throw error
      last = error
    }
    await pause(STARTING_MS, deadline)
  }
}
