import { type Atspi, existing, type Interfaces, type Ref } from "./atspi.ts"
import type { StateSet } from "./states.ts"

/** What every object says about itself; the rest is asked only of objects that need it. */
export interface Facts {
  readonly role: number
  readonly states: StateSet
  readonly interfaces: Interfaces
  readonly name: string
  readonly description: string
  /** −1: not known. */
  readonly childCount: number
}

/** Where a walk gets its facts from: the application, object by object, or a copy of its cache. */
export interface Source {
  /** The states alone, where they decide whether the rest is worth asking for. */
  states(ref: Ref): Promise<StateSet>
  facts(ref: Ref, states: StateSet): Promise<Facts>
  /** In their order, with undefined where the application names no object. */
  children(ref: Ref): Promise<readonly (Ref | undefined)[]>
}

/** Asks for each object. */
export class LiveSource implements Source {
  readonly #atspi: Atspi

  constructor(atspi: Atspi) {
    this.#atspi = atspi
  }

  states(ref: Ref): Promise<StateSet> {
    return this.#atspi.states(ref)
  }

  async facts(ref: Ref, states: StateSet): Promise<Facts> {
    const [role, name, interfaces, description] = await Promise.all([
      this.#atspi.role(ref),
      this.#atspi.name(ref),
      this.#atspi.interfaces(ref),
      this.#atspi.description(ref),
    ])
    return { role, states, interfaces, name, description, childCount: -1 }
  }

  async children(ref: Ref): Promise<readonly (Ref | undefined)[]> {
    return (await this.#atspi.children(ref)).map(existing)
  }
}
