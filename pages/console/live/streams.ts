import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import type {
  Announcement,
  LiveEntry,
  SentEvent,
  SilentWrite,
  StateRead,
} from '../../../engine/console/live/live-contract.ts'
import { client } from '../client.ts'

/** Lists the open streams, again after each stream that is opened or closed. `entries`: the newest first. */
export function streamsQuery(entries: readonly LiveEntry[]) {
  const change = entries.find(({ kind }) => kind === 'opened' || kind === 'closed')
  return queryOptions({
    queryKey: ['streams', change],
    queryFn: ({ signal }) => client.live.streams(undefined, { signal }),
    placeholderData: keepPreviousData,
  })
}

export const topicsQuery = queryOptions({
  queryKey: ['topics'],
  queryFn: ({ signal }) => client.live.topics(undefined, { signal }),
  staleTime: Infinity,
})

export const isSent = (entry: LiveEntry): entry is SentEvent => entry.kind === 'sent'
export const isAnnounced = (entry: LiveEntry): entry is Announcement => entry.kind === 'announced'
export const isSilent = (entry: LiveEntry): entry is SilentWrite => entry.kind === 'silent'
const isRead = (entry: LiveEntry): entry is StateRead => entry.kind === 'read'

interface Watching {
  id: string
  topics: readonly string[]
}

/** Says what a stream received after an announcement, and why the stream received nothing. `entries`: the newest first. */
export function effectOn({ id, topics }: Watching, announced: Announcement, entries: readonly LiveEntry[]) {
  const { number, topic, streams, otherStreams } = announced
  if (!topics.includes(topic)) return `Nothing: the stream does not watch ${topic}.`
  if (otherStreams.includes(id))
    return 'Nothing: the stream watches the topic, but not with these recipients. The change concerns other people or parents.'
  if (!streams.includes(id)) return 'Nothing: the stream was not open yet.'
  const read = entries
    .filter(isRead)
    .find((each) => each.announcements.includes(number) && each.streams.includes(id))
  if (!read) return 'The state has not been read yet. An account reads one state at a time.'
  const shared =
    read.announcements.length > 1 ? ` One read followed ${read.announcements.length} announcements.` : ''
  if (read.outcome === 'equal')
    return `Nothing: the answer for this person is the same as before, for example because the person may not see the changed row.${shared}`
  if (read.outcome === 'refused')
    return `The person may not read the parent any more, so the state is null.${shared}`
  if (read.outcome === 'failed')
    return `Nothing: the read failed, and is repeated. The log has the error.${shared}`
  const sent = entries.filter(isSent).filter(({ stream }) => stream === id)
  if (sent.some((event) => event.read === read.number)) return `An event.${shared}`
  const isSkipped = sent.some((event) => event.topic === topic && (event.read ?? 0) > read.number)
  return isSkipped
    ? 'A later state: the client read slowly, and skipped this state.'
    : 'Nothing yet: the client has not accepted the event, or the session is being checked.'
}
