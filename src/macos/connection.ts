import { accessibility } from "../../ffi/accessibility.ts"
import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { AutoreleasePool } from "../../ffi/objc.ts"
import { AppError } from "../errors.ts"
import { newArray, newString } from "./cf.ts"
import { Element } from "./value.ts"

/** Most names to keep from one command to the next. The names of custom actions are made by the apps. */
const MOST_NAMES = 1000

/**
 * Elements and attribute names that the commands of one platform share. Each is retained once: these are the only
 * references that outlive the function that got them. Elements and autoreleased objects are released as soon as no
 * command runs; names when the platform closes.
 */
export class Connection {
  /** Accessibility was granted. If the user withdraws it later, every call reports that. */
  trusted = false
  /** Windows that stayed empty although their web contents were requested. */
  readonly sleepers = new Set<string>()
  /** Processes for which we pose as a screen reader, each with its start time. */
  readonly posedTo = new Map<number, string | undefined>()
  #commands = 0
  #isUsed = false
  #pool: AutoreleasePool | undefined
  readonly #elements = new Map<bigint, Element[]>()
  readonly #strings = new Map<string, bigint>()
  readonly #arrays = new Map<string, bigint>()
  /** The same arrays by list object: most lists are constants. */
  #lists = new WeakMap<readonly string[], bigint>()
  #timeoutMs = 0
  #system: Element | undefined

  /** Called when a command starts. */
  enter(): void {
    this.#commands++
    // One pool for all commands that run at the same time: pools are a stack, and commands do not end in the order of
    // their starts. A process with one command frees everything by ending, and need not load the Objective-C runtime.
    if (this.#isUsed) this.#pool ??= new AutoreleasePool()
    this.#isUsed = true
  }

  /** Called when a command ends. The last command to end releases the elements that were read. */
  leave(): void {
    if (--this.#commands > 0) return
    this.#commands = 0
    this.#drop()
  }

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
    this.#drop()
    this.#forgetNames()
    this.sleepers.clear()
    this.posedTo.clear()
  }

  #drop(): void {
    for (const elements of this.#elements.values()) for (const element of elements) element.release()
    this.#elements.clear()
    this.#system = undefined
    this.#timeoutMs = 0
    if (this.#strings.size > MOST_NAMES) this.#forgetNames()
    this.#pool?.[Symbol.dispose]()
    this.#pool = undefined
  }

  #forgetNames(): void {
    if (this.#strings.size === 0) return
    const cf = coreFoundation()
    for (const ref of this.#arrays.values()) cf.CFRelease(ref)
    for (const ref of this.#strings.values()) cf.CFRelease(ref)
    this.#arrays.clear()
    this.#lists = new WeakMap()
    this.#strings.clear()
  }
}
