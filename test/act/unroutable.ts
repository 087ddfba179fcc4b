import * as routable from "./holding.ts"

/** Elements that have no route but the pointer and the keyboard. */

const absent = { route: "absent" } as const
export const BUTTON = { ...routable.BUTTON, ...absent } as const
export const BOX = { ...routable.OFF, ...absent } as const
export const FIELD = { ...routable.FIELD, ...absent } as const
export const COMBO = { ...routable.CLOSED, ...absent } as const
