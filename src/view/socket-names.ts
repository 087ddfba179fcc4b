/** The name of a viewer's socket. It tells which desktops the viewer shows, so commands elsewhere never wait for it. */
export const socketNameFor = (places: readonly string[]): string =>
  `${process.pid}-${crypto.randomUUID().slice(0, 8)}${places.map((place) => `.${markOf(place)}`).join("")}.sock`

/** True for the socket of a viewer of one of these places. */
export function isSocketFor(name: string, places: readonly string[]): boolean {
  const marks = name.split(".").slice(1, -1)
  return name.endsWith(".sock") && places.some((place) => marks.includes(markOf(place)))
}

const markOf = (place: string): string => Bun.hash(place).toString(36)
