import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import type { LiveStream } from '../../../engine/console/live/live-contract.ts'
import { formatTime } from '../format.ts'
import { addressOf } from '../location.ts'
import { Problem } from '../problem.tsx'
import { useRecording } from '../requests/recording.ts'
import { Announcements } from './announcements.tsx'
import { OpenStream } from './open-stream.tsx'
import { StreamDetails } from './stream-details.tsx'
import { isAnnounced, isSilent, streamsQuery } from './streams.ts'

/** The live updates of the service. `item`: a stream, `open` or `announcements`. */
export function Live({ item }: { item: string }) {
  const { entries, isRecording, error } = useRecording()
  const { data: streams = [], isFetching } = useQuery(streamsQuery(entries))
  const announced = entries.filter(isAnnounced)
  return (
    <div className={item ? 'split has-detail' : 'split'}>
      <section className="list">
        <div className="row head">
          <h2>Live</h2>
          <p role="status" className={isRecording ? 'state on' : 'state'}>
            {isRecording ? 'Recording' : 'Connecting…'}
          </p>
        </div>
        <ul>
          <Entry item="announcements" current={item || 'announcements'} name="Announcements">
            {announced.length}
          </Entry>
          <Entry item="open" current={item} name="Open a stream" />
        </ul>
        {[...new Set(streams.map(personOf))].map((person) => (
          <div key={person}>
            <h3>{person}</h3>
            <ul>
              {streams
                .filter((stream) => personOf(stream) === person)
                .map((stream) => (
                  <Entry key={stream.id} item={stream.id} current={item} name={topicsOf(stream).join(', ')}>
                    {formatTime(stream.openedAt)}
                  </Entry>
                ))}
            </ul>
          </div>
        ))}
        {streams.length === 0 && <p className="muted">No stream is open.</p>}
      </section>
      <div className="detail">
        {item && (
          <a className="back" href={addressOf('live')}>
            ← All streams
          </a>
        )}
        <Problem error={error} />
        <Detail item={item} streams={streams} isLoading={isFetching} />
      </div>
    </div>
  )
}

const personOf = ({ person }: LiveStream) => person ?? 'Signed out'
const topicsOf = ({ topics }: LiveStream) => [...new Set(topics.map(({ topic }) => topic))]

interface DetailProps {
  item: string
  streams: readonly LiveStream[]
  isLoading: boolean
}

function Detail({ item, streams, isLoading }: DetailProps) {
  const { entries } = useRecording()
  if (item === 'open') return <OpenStream />
  if (!item || item === 'announcements')
    return <Announcements announced={entries.filter(isAnnounced)} silent={entries.filter(isSilent)} />
  const stream = streams.find(({ id }) => id === item)
  return <StreamDetails key={item} id={item} stream={stream} isLoading={isLoading} entries={entries} />
}

interface EntryProps {
  item: string
  current: string
  name: string
  children?: ReactNode
}

const Entry = ({ item, current, name, children }: EntryProps) => (
  <li>
    <a href={addressOf('live', item)} aria-current={item === current ? 'true' : undefined}>
      <span className="name">{name}</span>
      <small>{children}</small>
    </a>
  </li>
)
