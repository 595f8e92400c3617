import { createHash } from 'node:crypto'
import type { Topic } from 'tallystick-contract'

import type { Database } from '../db/connection/database.ts'
import type { Person } from '../db/accounts/users.ts'
import type { Recipient } from '../call/live-stream.ts'
import type { Watch } from '../app/resource.ts'

/**
 * The key of a change: topic, kind and id, at most 64 bytes (engine/live/bus.ts). Triggers of migrations use the form for
 * a person, too. Addresses and ids of parents have any length, so their keys contain a hash: 128 bits of SHA-256.
 */
export function keyOf({ name, access }: Topic, recipient: Recipient) {
  if (access === 'public') return name
  if ('person' in recipient) return `${name}:${recipient.person}`
  if ('address' in recipient) return `${name}@${hashOf(recipient.address.toLowerCase())}`
  return `${name}/${hashOf(String(recipient.parent))}`
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)

/**
 * The name of a state in event ids: the topic, and the parent if the topic has `of`. Ids with other characters, which could
 * separate the parts of an event id, and long ids are hashed.
 */
export const nameOfState = ({ name }: Topic, parent: string | undefined) =>
  parent === undefined ? name : `${name}/${/^[\w-]{1,36}$/.test(parent) ? parent : hashOf(parent)}`

/** Returns the keys of a change. */
export const keysOf = (topic: Topic, recipients: readonly Recipient[]) =>
  topic.access === 'public' ? [topic.name] : recipients.map((recipient) => keyOf(topic, recipient))

/** Returns the keys of all states that may show data of a person. `watches`: what the states of the topics depend on. */
export async function listKeysOfPerson(
  topics: readonly Topic[],
  watches: readonly Watch[],
  db: Database,
  person: Person,
) {
  const keys = topics.flatMap((topic) => keysOf(topic, [{ person: person.id }]))
  for (const { topic, listParents } of watches) {
    const parents = (await listParents?.(db, person)) ?? []
    keys.push(...parents.map((parent) => keyOf(topic, { parent })))
  }
  return keys
}
