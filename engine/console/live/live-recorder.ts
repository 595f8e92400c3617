import { metaOf } from 'tallystick-contract/internal'

import type { App } from '../../app/resource.ts'
import type { Recipient } from '../../call/live-stream.ts'
import type { LiveObserver, ObservedState, ObservedStream, ReadOutcome } from '../../call/live-observer.ts'
import { recordings } from '../../telemetry/recording.ts'
import { toJson } from '../../values/output.ts'
import type { Announcement, LiveEntry, LiveStream } from './live-contract.ts'
import { describeValue } from '../redaction.ts'
import { createRecording } from '../requests/recordings.ts'
import { createSilentWrites } from './silent-writes.ts'

/** Limits of the memory: entries, and what an entry names, which includes every listed stream. */
export const MAX_ENTRIES = 300
const MAX_NAMED = 200
/** Maximum number of listed streams. */
const MAX_STREAMS = MAX_NAMED

type RecordedStream = Omit<LiveStream, 'isOfConsole'>

/** Records live updates. `add` receives each new entry. */
export function createLiveRecorder(add: (entry: LiveEntry) => void) {
  let streams: ReadonlySet<ObservedStream> = new Set()
  let recorded = new WeakMap<ObservedStream, RecordedStream>()
  /** The announcements since the last read of each state. The next read names them. */
  let announced = new WeakMap<ObservedState, number[]>()
  /** The number of the last read that found a change of each state. */
  let lastReads = new WeakMap<ObservedState, number>()
  /** Numbers streams, announcements and reads. */
  let lastNumber = 0

  const recordedOf = (stream: ObservedStream): RecordedStream => {
    const known = recorded.get(stream) ?? describeStream(stream, String(++lastNumber))
    recorded.set(stream, known)
    return known
  }

  const idsOf = (found: readonly ObservedStream[]) =>
    found.slice(0, MAX_NAMED).map((stream) => recordedOf(stream).id)

  const watching = (topic: string) =>
    [...streams].filter((stream) => statesOf(stream).some((state) => state.topic === topic))

  /** Writes without an announcement. */
  const writes = createSilentWrites((write) => {
    const tables = write.tables.slice(0, MAX_NAMED)
    add({ kind: 'silent', ...write, tables, streams: idsOf(watching(write.topic)) })
  })

  /** Adds an announcement, and assigns the announcement to the next read of each state. */
  const addAnnouncement = (
    topic: string,
    keys: readonly string[],
    from: Pick<Announcement, 'recipients' | 'operation' | 'request' | 'sender'>,
  ) => {
    const number = ++lastNumber
    const ofTopic = watching(topic)
    const isRead = (state: ObservedState) => state.topic === topic && keys.some(state.isAffectedBy)
    const states = new Set(ofTopic.flatMap(statesOf).filter(isRead))
    for (const state of states)
      announced.set(state, [...(announced.get(state) ?? []), number].slice(-MAX_NAMED))
    const [reached, others] = partition(ofTopic, (stream) => statesOf(stream).some(isRead))
    add({
      kind: 'announced',
      time: Date.now(),
      number,
      topic,
      ...from,
      streams: idsOf(reached),
      otherStreams: idsOf(others),
    })
  }

  const observer: LiveObserver = {
    announced(topic, recipients, keys) {
      const { recording, call } = recordings.getStore() ?? {}
      if (recording) writes.addAnnounced(recording, topic)
      addAnnouncement(topic, keys, {
        recipients: recipients.slice(0, MAX_NAMED).map(describeRecipient),
        operation: call?.operation ?? null,
        request: recording?.id ?? null,
        sender: null,
      })
    },
    received(from, keys) {
      const sender = from === 'operator' || from === 'database' ? from : 'process'
      for (const topic of new Set(keys.map(topicOf)))
        addAnnouncement(
          topic,
          keys.filter((key) => topicOf(key) === topic),
          { recipients: recipientsOf(topic, keys), operation: null, request: null, sender },
        )
    },
    opened(stream) {
      const known = { ...recordedOf(stream), request: recordings.getStore()?.recording.id ?? null }
      recorded.set(stream, known)
      add({ kind: 'opened', time: Date.now(), stream: known.id })
    },
    closed(stream) {
      add({ kind: 'closed', time: Date.now(), stream: recordedOf(stream).id })
    },
    reading(state) {
      const start = performance.now()
      const announcements = announced.get(state) ?? []
      announced.delete(state)
      // Has the statements of the read, which belongs to no request.
      const recording = createRecording('')
      const end = (outcome: ReadOutcome) => {
        const number = ++lastNumber
        if (outcome === 'changed') lastReads.set(state, number)
        const { topic } = state
        const readers = [...streams].filter((stream) => statesOf(stream).includes(state))
        add({
          kind: 'read',
          time: Date.now(),
          number,
          topic,
          of: describeParent(state),
          outcome,
          duration: performance.now() - start,
          announcements,
          streams: idsOf(readers),
        })
        writes.addRead(topic, recording)
        recording.isOver = true
      }
      return { run: (read) => recordings.run({ recording }, read), end }
    },
    sent(stream, state, { topic, state: value }, since) {
      add({
        kind: 'sent',
        time: Date.now(),
        stream: recordedOf(stream).id,
        topic,
        of: describeParent(state),
        read: lastReads.get(state) ?? null,
        size: Buffer.byteLength(toJson(value)),
        delay: performance.now() - since,
        state: describeValue(value, state.hasSecrets),
      })
    },
  }

  return {
    observer,
    observeStreams(open: ReadonlySet<ObservedStream>) {
      streams = open
    },
    /** Lists the open streams, the newest first. */
    listStreams: () => [...streams].slice(-MAX_STREAMS).reverse().map(recordedOf),
    /** Notices the writes of a request or of a job that has ended. */
    addEnded: writes.addEnded,
    /** Forgets everything that the entries name. */
    clear() {
      writes.clear()
      recorded = new WeakMap()
      announced = new WeakMap()
      lastReads = new WeakMap()
    },
  }
}

const statesOf = ({ subscriptions }: ObservedStream) => subscriptions.map(({ state }) => state)

const partition = <Item>(items: readonly Item[], matches: (item: Item) => boolean) =>
  [items.filter(matches), items.filter((item) => !matches(item))] as const

/** Returns the topic of a key (engine/live/keys.ts). */
const topicOf = (key: string) => key.split(/[:@/]/, 1)[0] ?? ''

const describeParent = ({ of }: ObservedState) => describeValue(of, false)

function describeRecipient(recipient: Recipient): Announcement['recipients'][number] {
  if ('person' in recipient) return { kind: 'person', value: recipient.person }
  if ('address' in recipient) return { kind: 'address', value: recipient.address }
  return { kind: 'parent', value: String(recipient.parent) }
}

/** Returns the people of the keys of a topic. In keys from other processes, addresses and parents are hashed. */
const recipientsOf = (topic: string, keys: readonly string[]) =>
  keys
    .filter((key) => key.startsWith(`${topic}:`))
    .slice(0, MAX_NAMED)
    .map((key) => ({ kind: 'person' as const, value: key.slice(topic.length + 1) }))

const describeStream = (stream: ObservedStream, id: string): RecordedStream => ({
  id,
  openedAt: Date.now() - (performance.now() - stream.openedAt),
  request: null,
  person: stream.caller?.user.email ?? null,
  app: stream.caller?.session.clientId ?? null,
  topics: statesOf(stream).map((state) => ({ topic: state.topic, of: describeParent(state) })),
})

/** Lists the topics of an application, with the procedures that read and announce each topic. */
export function listTopics({ resources }: Pick<App, 'resources'>) {
  const procedures = Object.entries(resources).flatMap(([resource, { procedures }]) =>
    Object.entries(procedures).map(([name, procedure]) => ({
      operation: `${resource}.${name}`,
      meta: metaOf(procedure),
    })),
  )
  return procedures.flatMap(({ operation, meta: { reads } }) =>
    reads
      ? [
          {
            name: reads.name,
            readBy: operation,
            announcedBy: procedures.flatMap(({ operation: other, meta: { updates = [] } }) =>
              updates.some(({ name }) => name === reads.name) ? [other] : [],
            ),
          },
        ]
      : [],
  )
}
