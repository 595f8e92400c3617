import { useMutation, useQuery } from '@tanstack/react-query'

import type {
  Announcement,
  LiveEntry,
  LiveStream,
  SentEvent,
} from '../../../engine/console/live/live-contract.ts'
import { client } from '../client.ts'
import { Code, prettyJson } from '../code/copy.tsx'
import { formatDate, formatDuration, formatSize, formatTime } from '../format.ts'
import { addressOf } from '../location.ts'
import { Problem } from '../problem.tsx'
import { AnnouncementTable, SilentWrites } from './announcements.tsx'
import { effectOn, isAnnounced, isSent, isSilent, topicsQuery } from './streams.ts'

interface Props {
  id: string
  /** Undefined after the end of the stream. */
  stream: LiveStream | undefined
  isLoading: boolean
  /** The newest first. */
  entries: readonly LiveEntry[]
}

/** A stream with its events, and what each announcement led to. */
export function StreamDetails({ id, stream, isLoading, entries }: Props) {
  const events = entries.filter(isSent).filter((event) => event.stream === id)
  return (
    <>
      <section aria-label="Stream">
        <h2>{stream?.topics.map(nameOf).join(', ') ?? (isLoading ? 'Stream' : 'A stream that has ended')}</h2>
        {stream && <Facts stream={stream} />}
        {!stream && !isLoading && (
          <p>
            The client has closed the stream, or the service has started again, which also removes the
            recorded events. <a href={addressOf('live', 'open')}>Open a stream</a>
          </p>
        )}
      </section>
      {stream && <Why stream={stream} entries={entries} />}
      <section aria-label="Events">
        <div className="row head">
          <h3>Events ({events.length})</h3>
        </div>
        {events.length === 0 && <p className="muted">No event is recorded.</p>}
        <ol className="statements">
          {events.map((event, index) => (
            <li key={events.length - index}>
              <Event event={event} isOpen={index === 0} />
            </li>
          ))}
        </ol>
      </section>
    </>
  )
}

const nameOf = ({ topic, of }: { topic: string; of: string | null }) =>
  of === null ? topic : `${topic} ${of}`

function Facts({ stream }: { stream: LiveStream }) {
  const { id, person, app, openedAt, request, isOfConsole } = stream
  const close = useMutation({
    mutationFn: () => client.live.close({ stream: id }),
  })
  return (
    <>
      <dl className="facts">
        <dt>Person</dt>
        <dd>{[person ?? 'signed out', app && `with the app ${app}`].filter(Boolean).join(' ')}</dd>
        <dt>Opened</dt>
        <dd>
          {formatDate(openedAt)}
          {isOfConsole ? ', by this console' : request === null && ', before the console'}
        </dd>
      </dl>
      {isOfConsole && (
        <div className="row pages">
          <button
            type="button"
            className="secondary"
            aria-busy={close.isPending}
            onClick={() => {
              close.mutate()
            }}
          >
            Close the stream
          </button>
        </div>
      )}
      <Problem error={close.error} />
    </>
  )
}

/** What each announcement led to. Without one, says which procedures announce the topics. */
function Why({ stream, entries }: { stream: LiveStream; entries: readonly LiveEntry[] }) {
  const { data: topics = [] } = useQuery(topicsQuery)
  const watching = { id: stream.id, topics: stream.topics.map(({ topic }) => topic) }
  const announced = entries.filter(isAnnounced).filter(({ time }) => time >= stream.openedAt)
  const written = entries.filter(isSilent).filter(({ time, topic }) => {
    return time >= stream.openedAt && watching.topics.includes(topic)
  })
  const isOfStream = ({ topic }: Announcement) => watching.topics.includes(topic)
  const [ofStream, others] = [announced.filter(isOfStream), announced.filter((each) => !isOfStream(each))]
  const silent = topics.filter(
    ({ name }) => watching.topics.includes(name) && announced.every(({ topic }) => topic !== name),
  )
  return (
    <section aria-label="Announcements">
      <div className="row head">
        <h3>What each announcement led to</h3>
      </div>
      {written.length > 0 && (
        <>
          <p>These changed data of the stream, and the stream learned nothing of them:</p>
          <SilentWrites silent={written} />
          <p className="muted">
            Add the topic to <code>updates</code> of the procedure, or call <code>context.announce</code>.
          </p>
        </>
      )}
      {silent.map(({ name, announcedBy }) => (
        <p key={name} className="muted">
          Nobody has announced <strong>{name}</strong> since{' '}
          {stream.request === null ? 'the console records' : 'the stream was opened'}.{' '}
          <Announcers operations={announcedBy} /> <code>context.announce</code> announces a change of other
          people&apos;s data.
        </p>
      ))}
      {ofStream.length > 0 && (
        <AnnouncementTable announced={ofStream} heading="Effect on this stream">
          {(each) => effectOn(watching, each, entries)}
        </AnnouncementTable>
      )}
      {others.length > 0 && (
        <details>
          <summary>Announcements of other topics ({others.length})</summary>
          <AnnouncementTable announced={others} heading="Effect on this stream">
            {(each) => effectOn(watching, each, entries)}
          </AnnouncementTable>
        </details>
      )}
    </section>
  )
}

/** Names the procedures whose contract announces a topic. */
function Announcers({ operations }: { operations: readonly string[] }) {
  if (operations.length === 0)
    return (
      <>
        No procedure has the topic in <code>updates</code>.
      </>
    )
  return (
    <>
      By their contract, these procedures do:{' '}
      {operations.map((operation, index) => (
        <span key={operation}>
          {index > 0 && ', '}
          <a href={addressOf('procedures', operation)}>{operation}</a>
        </span>
      ))}
      . A refused call announces nothing.
    </>
  )
}

function Event({ event, isOpen }: { event: SentEvent; isOpen: boolean }) {
  const { time, size, delay, state } = event
  return (
    <details open={isOpen}>
      <summary>
        {formatTime(time)} {nameOf(event)}, {formatSize(size)}, after {formatDuration(delay)}
      </summary>
      <Code text={prettyJson(state ?? 'null')} name="the state" />
    </details>
  )
}
