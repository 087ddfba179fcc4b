/** Ids of windows: `w-4521` in the contract, 4521 on the display. */

export function windowId(number: number): string {
  return `w-${number}`
}

/** undefined: no window of the display has such an id, as with the `menu-1` of a menu. */
export function windowNumber(id: string | undefined): number | undefined {
  return id !== undefined && /^w-\d+$/.test(id) ? Number(id.slice(2)) : undefined
}
