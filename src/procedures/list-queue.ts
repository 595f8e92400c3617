import { LRUCache } from 'lru-cache'

import { bytesOf, type Paged } from '../../db/pages.ts'
import { limitConcurrency } from './concurrency.ts'

/** From so many bytes of text on, a list is large: it takes some milliseconds of CPU. */
const LARGE = 64 * 1024

const MINUTE = 60_000

const ofPerson = limitConcurrency(2)
const ofLarge = limitConcurrency(1)

/** People who were answered a large list within the last minute, and may be again. */
const withLarge = new LRUCache<string, true>({ max: 10_000, ttl: MINUTE })

/**
 * Reads a list when it is its turn. One person has two lists read at once, so that many of one person delay nobody else.
 * Of all people with large lists one list is read at once, so that other calls are answered between any two of them.
 */
export const queueListRead = <Row>(person: string, read: () => Promise<Paged<Row>[]>) =>
  ofPerson(person, async () => {
    const rows = await (withLarge.has(person) ? ofLarge('anybody', read) : read())
    if (bytesOf(rows) > LARGE) withLarge.set(person, true)
    return rows
  })
