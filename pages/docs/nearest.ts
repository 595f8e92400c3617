import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'

/** The pairs of neighboring letters. */
function pairsOf(text: string) {
  const letters = text.toLowerCase()
  return new Set(Array.from(letters).map((_, index) => letters.slice(index, index + 2)))
}

/** Number of names that a message proposes. */
const COUNT = 3

/** Returns the procedures whose names have the most pairs of letters in common with a name. */
export function findNearest(name: string, procedures: readonly ProcedureDescription[]) {
  const wanted = pairsOf(name)
  return procedures
    .map(({ operation }) => {
      const pairs = pairsOf(operation)
      const common = [...pairs].filter((pair) => wanted.has(pair)).length
      return { operation, similarity: (2 * common) / (pairs.size + wanted.size) }
    })
    .filter(({ similarity }) => similarity > 0.3)
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, COUNT)
    .map(({ operation }) => operation)
}
