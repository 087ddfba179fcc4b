/** Ids of windows: `w-4521` in the contract, 4521 on the display. */

export function windowId(number: number): string {
  return `w-${number}`
}

/** undefined: it is not the id of a window on the display, e.g. a menu's `menu-1`. */
export function windowNumber(id: string | undefined): number | undefined {
  return id !== undefined && /^w-\d+$/.test(id) ? Number(id.slice(2)) : undefined
}
