/** Starts to handle the items in order. Handles at most `limit` items concurrently. */
export async function forEachConcurrently<Item>(
  limit: number,
  items: Iterable<Item>,
  handle: (item: Item) => Promise<void>,
) {
  const remaining = items[Symbol.iterator]()
  const processNext = async () => {
    for (let next = remaining.next(); !next.done; next = remaining.next()) await handle(next.value)
  }
  await Promise.all(Array.from({ length: limit }, processNext))
}
