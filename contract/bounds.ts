// Without imports, so that a page can use this file without the schemas of the contract. Lengths are numbers of code points.

/** Maximum lengths of a note in both forms (contract/legacy-notes.ts). */
export const noteBounds = { title: 120, body: 4000 }

/** Maximum lengths of a task. */
export const taskBounds = { title: 500, description: 10_000 }

/** The number of guests of a reservation. */
export const guestBounds = { min: 1, max: 20 }
