/** Works through items in order, so many at once. */
export async function inLanes<Item>(
  many: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
) {
  const left = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: many }, lane))
}
