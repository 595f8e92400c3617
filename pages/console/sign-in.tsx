import { useMutation } from '@tanstack/react-query'

import type { Overview, SamplePerson } from '../../engine/console/contract.ts'
import { client } from './client.ts'
import { addressOf } from './location.ts'
import { Problem } from './problem.tsx'

interface SignInResult {
  url: string
  /** Whether the browser blocked the new tab. */
  isBlocked: boolean
}

/** Opens the page of the service in a new tab, signed in as a person. */
async function signIn(person: SamplePerson): Promise<SignInResult> {
  // Before the call: browsers block tabs that do not open at once after a click.
  const tab = open('', '_blank')
  try {
    const { url } = await client.people.signIn({ person })
    if (!tab) return { url, isBlocked: true }
    tab.opener = null
    tab.location.replace(url)
    return { url, isBlocked: false }
  } catch (error) {
    tab?.close()
    throw error
  }
}

export function SignIn({ overview: { people, canSignIn, origin } }: { overview: Overview }) {
  const { mutate, data, error, variables, isPending } = useMutation({ mutationFn: signIn })
  if (!canSignIn)
    return (
      <>
        <p>
          The console signs in only to a page at <code>localhost</code>. This page is at{' '}
          <a href={origin}>{origin}</a>.
        </p>
        <p>
          Sign in there with an e-mail address. The code is in the <a href={addressOf('outbox')}>outbox</a>.
        </p>
      </>
    )
  return (
    <>
      <p>Each button opens the page of the service in a new tab, signed in as a sample person.</p>
      <p className="row">
        {people.map(({ person, name, email }) => (
          <button
            key={person}
            type="button"
            title={email}
            disabled={isPending}
            aria-busy={isPending && variables === person}
            onClick={() => {
              mutate(person)
            }}
          >
            {name}
          </button>
        ))}
      </p>
      <Problem
        error={error}
        onRetry={() => {
          if (variables) mutate(variables)
        }}
      />
      <p role="status" className="outcome">
        {data?.isBlocked && (
          <>
            The browser blocked the new tab.{' '}
            <a href={data.url} target="_blank" rel="noopener noreferrer">
              Open the page
            </a>{' '}
            (the link works once, for a minute).
          </>
        )}
      </p>
      <p className="muted">
        To sign in with an e-mail address instead, take the code from the{' '}
        <a href={addressOf('outbox')}>outbox</a>.
      </p>
    </>
  )
}
