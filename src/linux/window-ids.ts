/** The contract's ids of windows, and the display's. */

export function windowId(id: number): string {
  return `w-${id}`
}

/** undefined: no window has such an id. */
export function windowNumber(id: string): number | undefined {
  return /^w-\d+$/.test(id) ? Number(id.slice(2)) : undefined
}
