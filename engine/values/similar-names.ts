/** Returns the known names that resemble a name, the most similar one first, without the name itself. */
export function findSimilarNames(name: string, names: Iterable<string>) {
  const maximum = Math.max(2, Math.floor(name.length / 3))
  return [...new Set(names)]
    .map((other) => ({ other, distance: distanceBetween(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, distance }) => other !== name && distance <= maximum)
    .sort((a, b) => a.distance - b.distance)
    .map(({ other }) => other)
}

/** Returns the Levenshtein distance: the number of inserted, removed and replaced characters. */
function distanceBetween(a: string, b: string) {
  /** The distances from a prefix of `a` to each prefix of `b`. */
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1]
    for (const [j, other] of Array.from(b).entries()) {
      const [replaced = 0, removed = 0, inserted = 0] = [row[j], row[j + 1], next[j]]
      next.push(Math.min(replaced + (letter === other ? 0 : 1), removed + 1, inserted + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
