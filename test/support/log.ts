/** The events in the log of a fixture so far. Skips the last line, which may be incomplete. */
export async function eventsIn<Event>(path: string): Promise<readonly Event[]> {
  const text = await Bun.file(path)
    .text()
    .catch(() => "")
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
