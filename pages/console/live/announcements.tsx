import { Fragment, type ReactNode } from 'react'

import type { Announcement, SilentWrite } from '../../../engine/console/live/live-contract.ts'
import { formatTime } from '../format.ts'
import { addressOf } from '../location.ts'
import { Person } from '../person.tsx'

interface Props {
  announced: readonly Announcement[]
  silent: readonly SilentWrite[]
}

/** All announcements, and the writes that nobody announced, the newest first. */
export const Announcements = ({ announced, silent }: Props) => (
  <section>
    {silent.length > 0 && (
      <>
        <h2>Writes without an announcement</h2>
        <SilentWrites silent={silent} />
      </>
    )}
    <h2>Announcements</h2>
    {announced.length > 0 ? (
      <AnnouncementTable announced={announced} heading="Streams">
        {reachText}
      </AnnouncementTable>
    ) : (
      <p className="muted">
        A procedure announces its topics after the commit. Announcements appear here while a console is open.
      </p>
    )}
  </section>
)

function reachText({ streams, otherStreams }: Announcement) {
  const others = otherStreams.length > 0 ? `, ${otherStreams.length} with other data` : ''
  if (streams.length > 0) return `${streams.length} read again${others}`
  return otherStreams.length > 0 ? `None${others}` : 'None: no open stream watches the topic'
}

/** Requests and jobs that wrote to the tables of a topic and did not announce the topic: streams learn nothing of such writes. */
export const SilentWrites = ({ silent }: { silent: readonly SilentWrite[] }) => (
  <ul className="silent">
    {silent.map(({ time, topic, tables, operation, request, streams }) => (
      <li key={`${request} ${topic}`}>
        <span className="time">{formatTime(time)}</span>{' '}
        <a href={addressOf('requests', request)}>{operation}</a> changed{' '}
        {tables.map((table) => (
          <Fragment key={table}>
            <code>{table}</code>{' '}
          </Fragment>
        ))}
        and did not announce <strong>{topic}</strong>.{' '}
        <small className="muted">
          {streams.length === 0
            ? 'No open stream watches the topic.'
            : `Open streams of the topic: ${streams.length}.`}
        </small>
      </li>
    ))}
  </ul>
)

interface TableProps {
  announced: readonly Announcement[]
  /** The heading of the last column, and its text. */
  heading: string
  children: (announced: Announcement) => ReactNode
}

export const AnnouncementTable = ({ announced, heading, children }: TableProps) => (
  <div className="scroll" tabIndex={0} role="group" aria-label="Announcements">
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Topic</th>
          <th scope="col">By</th>
          <th scope="col" className="wide">
            Recipients
          </th>
          <th scope="col">{heading}</th>
        </tr>
      </thead>
      <tbody>
        {announced.map((each) => (
          <tr key={each.number}>
            <td className="time">{formatTime(each.time)}</td>
            <th scope="row">{each.topic}</th>
            <td>
              <Announcer announced={each} />
            </td>
            <td className="wide">
              <Recipients announced={each} />
            </td>
            <td>{children(each)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const senders = {
  process: 'another process',
  operator: 'a command for operators',
  database: 'a trigger of the database',
} satisfies Record<NonNullable<Announcement['sender']>, string>

/** The operation, with a link to its request. */
function Announcer({ announced: { operation, request, sender } }: { announced: Announcement }) {
  if (sender) return senders[sender]
  if (request === null) return operation ?? 'a request that is not recorded'
  return <a href={addressOf('requests', request)}>{operation ?? request}</a>
}

/** Whom a change concerns. */
export function Recipients({ announced: { recipients } }: { announced: Announcement }) {
  if (recipients.length === 0) return 'everyone'
  return recipients.map(({ kind, value }, index) => (
    <span key={index}>
      {index > 0 && ', '}
      {kind === 'person' ? <Person id={value} /> : kind === 'parent' ? `parent ${value}` : value}
    </span>
  ))
}
