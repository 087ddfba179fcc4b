/**
 * The candidate that a mistyped word most likely meant, if one is close enough. Case, leading dashes
 * and the choice between `-` and `_` do not count as mistakes.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return closest(word, candidates, 1)[0]
}

/** The candidates that the word may be a typo of, the nearest first. */
export function closest(word: string, candidates: Iterable<string>, most: number): readonly string[] {
  const wanted = plain(word)
  return [...candidates]
    .map((candidate) => ({ candidate, cost: costOf(wanted, plain(candidate)) }))
    .filter(({ cost }) => cost < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.cost - b.cost)
    .slice(0, most)
    .map(({ candidate }) => candidate)
}

const plain = (word: string) => word.replace(/^-+/, "").replaceAll("_", "-").toLowerCase()

const inOrder = (word: string) => word.split("-").sort().join("-")

function costOf(wanted: string, candidate: string): number {
  if (wanted === candidate) return 0
  const most = Math.floor(Math.max(wanted.length, candidate.length, 3) / 3)
  if (wanted.length < 2 || wanted.length > 64) return Number.POSITIVE_INFINITY
  if (wanted.length > 2 && candidate.startsWith(wanted)) return 0.5
  if (wanted.includes("-") && inOrder(wanted) === inOrder(candidate)) return 0.5
  const distance = editDistance(wanted, candidate)
  return distance <= most && distance < wanted.length ? distance : Number.POSITIVE_INFINITY
}

/** Letters put in, left out or changed, and neighbours swapped (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? before[j - 2]! + 1
          : Number.POSITIVE_INFINITY
      row.push(Math.min(changed, swapped, last[j]! + 1, row[j - 1]! + 1))
    }
    before = last
    last = row
  }
  return last[b.length]!
}
