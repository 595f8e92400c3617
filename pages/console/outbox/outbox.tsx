import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { Letter } from '../../../engine/console/contract.ts'
import { client, overviewQuery } from '../client.ts'
import { Copy } from '../code/copy.tsx'
import { formatDate } from '../format.ts'
import { LetterParts } from './letter-parts.tsx'
import { Loaded } from '../problem.tsx'

/** Time between two requests for the letters, in milliseconds. */
const INTERVAL = 2000

/** The e-mails that the service wrote to files. */
export function Outbox() {
  const query = useQuery({
    queryKey: ['outbox'],
    queryFn: ({ signal }) => client.outbox.list(undefined, { signal }),
    refetchInterval: INTERVAL,
  })
  return (
    <Loaded query={query}>
      {(letters) =>
        letters && letters.length > 0 ? (
          <Letters letters={letters} />
        ) : (
          <>
            <h2>Outbox</h2>
            <section className="empty">
              {letters ? <NoLetters /> : <p>A mail server sends the e-mails, so that the outbox is empty.</p>}
            </section>
          </>
        )
      }
    </Loaded>
  )
}

function NoLetters() {
  const { data: overview } = useQuery(overviewQuery)
  return (
    <>
      <p>No e-mails yet. A sign-in with an e-mail address sends a code, which appears here.</p>
      {overview && (
        <p>
          <a href={overview.origin} target="_blank" rel="noreferrer">
            Sign in to the page in a new tab
          </a>
        </p>
      )}
    </>
  )
}

/** The list of letters, and the selected letter: by default the newest. */
function Letters({ letters }: { letters: readonly Letter[] }) {
  const [id, setId] = useState<string>()
  const selected = letters.find((letter) => letter.id === id) ?? letters[0]
  return (
    <div className="outbox">
      <section className="list">
        <h2>Outbox</h2>
        <ul className="letters">
          {letters.map((letter) => (
            <li key={letter.id} className="row">
              <button
                type="button"
                className="entry-button"
                aria-pressed={letter === selected}
                onClick={() => {
                  setId(letter.id)
                }}
              >
                <strong>{letter.to}</strong>
                <span>{letter.subject}</span>
                <small className="muted">{formatDate(letter.time)}</small>
              </button>
            </li>
          ))}
        </ul>
      </section>
      {selected && <SelectedLetter letter={selected} />}
    </div>
  )
}

function SelectedLetter({ letter: { id, to, subject, time, code } }: { letter: Letter }) {
  const parts = useQuery({
    queryKey: ['letter', id],
    queryFn: ({ signal }) => client.outbox.get({ id }, { signal }),
    staleTime: Infinity,
  })
  return (
    <section className="letter">
      <h3>{subject}</h3>
      <p className="muted">
        To {to}, {formatDate(time)}
      </p>
      {code && (
        <p className="row">
          <strong className="code-text">{code}</strong>
          <Copy text={code} what="the code" />
        </p>
      )}
      <Loaded query={parts}>
        {(loaded) => (
          <LetterParts key={id} {...loaded} subject={subject} html={`outbox/${encodeURIComponent(id)}`} />
        )}
      </Loaded>
    </section>
  )
}
