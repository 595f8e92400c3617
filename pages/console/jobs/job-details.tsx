import { useMutation, useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useEffect, useRef } from 'react'

import type { JobDetails as Details } from '../../../engine/console/jobs-contract.ts'
import { client, queryClient } from '../client.ts'
import { Code, Copy, prettyJson } from '../code/copy.tsx'
import { formatDate } from '../format.ts'
import { LetterParts } from '../outbox/letter-parts.tsx'
import { addressOf } from '../location.ts'
import { Loaded, Problem } from '../problem.tsx'
import { findSourceOf, nameOf, useRecording } from '../requests/recording.ts'
import { State } from './job-table.tsx'

/** The buttons of the states. */
const actions = {
  waiting: { label: 'Run now', run: client.jobs.runNow },
  dead: { label: 'Run again', run: client.jobs.retry },
}

/** The details of a job. The heading receives the focus. */
export function JobDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery({
    queryKey: ['jobs', id],
    queryFn: ({ signal }) => client.jobs.get({ id }, { signal }),
    refetchInterval: 2000,
  })
  return (
    <section
      className="details"
      aria-label="Job"
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose()
      }}
    >
      <Loaded query={query}>{(job) => <Job job={job} onClose={onClose} />}</Loaded>
    </section>
  )
}

function Job({ job, onClose }: { job: Details; onClose: () => void }) {
  const { id, queue, state, attempts, maxAttempts, person, error, input, letter } = job
  const source = findSourceOf(id, useRecording().requests)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
  }, [])
  const facts: Record<string, ReactNode> = {
    State: <State state={state} />,
    'Job id': (
      <>
        <code>{id}</code> <Copy text={id} what="the job id" />
      </>
    ),
    Attempts: `${attempts} of ${maxAttempts}`,
    Person: person ?? 'none',
    Enqueued: (
      <>
        {formatDate(job.createdAt)}
        {source && <a href={addressOf('requests', nameOf(source))}>by {source.operation ?? source.path}</a>}
      </>
    ),
    Due: formatDate(job.dueAt),
    ...(job.endedAt !== null && { Ended: formatDate(job.endedAt) }),
  }
  return (
    <>
      <div className="row head">
        <h3 ref={heading} className="grow" tabIndex={-1}>
          {queue}
        </h3>
        {(state === 'waiting' || state === 'dead') && <Action key={state} id={id} {...actions[state]} />}
        <button type="button" className="secondary" onClick={onClose}>
          Close
        </button>
      </div>
      <dl className="facts">
        {Object.entries(facts).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd className="row">{value}</dd>
          </Fragment>
        ))}
      </dl>
      <p>
        <a href={addressOf('requests', id)}>Attempts in Requests</a>{' '}
        <span className="muted">while a console is open</span>
      </p>
      {error !== null && (
        <div className="problem">
          <p>
            <strong>Last attempt</strong> {error}
          </p>
        </div>
      )}
      {letter && (
        <>
          <h4>{letter.subject}</h4>
          <p className="muted">To {letter.to}</p>
          <LetterParts {...letter} headers={[]} html={`mails/${encodeURIComponent(id)}`} />
        </>
      )}
      {input !== null && (
        <>
          <p className="caption">Input</p>
          <Code text={prettyJson(input)} name="the input" />
        </>
      )}
    </>
  )
}

interface ActionProps {
  id: string
  label: string
  run: (input: { id: string }) => Promise<unknown>
}

function Action({ id, label, run }: ActionProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => run({ id }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['jobs'] }),
  })
  return (
    <>
      <Problem error={error} />
      <button
        type="button"
        disabled={isPending}
        onClick={() => {
          mutate()
        }}
      >
        {label}
      </button>
    </>
  )
}
