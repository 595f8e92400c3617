import type { Database } from '../../db/connection/database.ts'
import { HasSharedItems } from '../../db/accounts/personal-data.ts'
import type { Person } from '../../db/accounts/users.ts'
import { keyOf, keysOf } from '../../live/keys.ts'
import type { Resources } from '../../app/resource.ts'
import { listAnnouncementsWithin } from './topics-within.ts'

/**
 * Applies `ownerLeaves` to the rows of an account that ends. Returns the keys of the states of other people that show the rows,
 * or rows within them. Throws `HasSharedItems` before the first change.
 */
export async function leaveRows(resources: Resources, tx: Database, person: Person): Promise<string[]> {
  const shared = Object.entries(resources).flatMap(([name, { rows, watch }]) =>
    rows?.leaving ? [{ name, rows, watch, leaving: rows.leaving }] : [],
  )
  for (const { leaving } of shared) await leaving.lock(tx, person)
  const refusing: string[] = []
  for (const { name, leaving } of shared) if (await leaving.isRefused(tx, person)) refusing.push(name)
  if (refusing.length > 0) throw new HasSharedItems(refusing)
  const keys: string[] = []
  for (const { rows, watch, leaving } of shared)
    for (const id of await leaving.leave(tx, person)) {
      if (watch) keys.push(keyOf(watch.topic, { parent: id }))
      for (const [topic, ...recipients] of await listAnnouncementsWithin(tx, resources, rows, id))
        keys.push(...keysOf(topic, recipients))
    }
  return keys
}
