import { accessibility } from "../../ffi/accessibility.ts"
import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { AppError } from "../errors.ts"
import { newArray, newString } from "./cf.ts"
import { Element } from "./value.ts"

/**
 * Elements and attribute names that all commands of one platform share. Each is retained once, and
 * released by `close`: these are the only references that outlive the function that got them.
 */
export class Connection {
  /** Accessibility was granted. If the user withdraws it later, every call reports that. */
  trusted = false
  /** Windows that stayed empty although their web contents were asked for, each with the life of its process. */
  readonly sleepers = new Map<Element, string>()
  readonly #elements = new Map<bigint, Element[]>()
  readonly #strings = new Map<string, bigint>()
  readonly #arrays = new Map<string, bigint>()
  /** The same arrays by list object: most lists are constants. */
  #lists = new WeakMap<readonly string[], bigint>()
  #timeoutMs = 0
  #system: Element | undefined

  /** The one object for an element, from a borrowed reference. macOS makes a new reference at every read. */
  intern(ref: bigint): Element {
    const cf = coreFoundation()
    const hash = cf.CFHash(ref)
    const same = this.#elements.get(hash)
    const known = same?.find((element) => element.ref === ref || cf.CFEqual(element.ref, ref) !== 0)
    if (known) return known
    const element = new Element(cf.CFRetain(ref))
    if (same) same.push(element)
    else this.#elements.set(hash, [element])
    return element
  }

  /** The one object for an element, from a reference that we own and that is released here. */
  adopt(ref: bigint): Element {
    if (!ref) throw new AppError("INTERNAL", "macOS returned no element")
    using owned = new Owned(ref)
    return this.intern(owned.ref)
  }

  get system(): Element {
    this.#system ??= this.adopt(accessibility().AXUIElementCreateSystemWide())
    return this.#system
  }

  app(pid: number): Element {
    return this.adopt(accessibility().AXUIElementCreateApplication(pid))
  }

  /** A CFString that lives as long as the connection, for names of attributes, actions and notifications. */
  name(text: string): bigint {
    const known = this.#strings.get(text)
    if (known !== undefined) return known
    const { ref } = newString(text)
    this.#strings.set(text, ref)
    return ref
  }

  /** A CFArray of such names, which lives as long. */
  names(list: readonly string[]): bigint {
    const known = this.#lists.get(list)
    if (known !== undefined) return known
    const key = list.join()
    const ref = this.#arrays.get(key) ?? newArray(list.map((text) => this.name(text))).ref
    this.#arrays.set(key, ref)
    this.#lists.set(list, ref)
    return ref
  }

  /** Limits how long any app may take to answer. Set on the system-wide element, it applies to this whole process. */
  limitAnswers(ms: number): void {
    if (ms === this.#timeoutMs) return
    accessibility().AXUIElementSetMessagingTimeout(this.system.ref, ms / 1000)
    this.#timeoutMs = ms
  }

  close(): void {
    if (this.#elements.size + this.#strings.size === 0) return
    const cf = coreFoundation()
    for (const elements of this.#elements.values()) for (const { ref } of elements) cf.CFRelease(ref)
    for (const ref of this.#arrays.values()) cf.CFRelease(ref)
    for (const ref of this.#strings.values()) cf.CFRelease(ref)
    this.#elements.clear()
    this.sleepers.clear()
    this.#arrays.clear()
    this.#lists = new WeakMap()
    this.#strings.clear()
    this.#system = undefined
    this.#timeoutMs = 0
  }
}
