import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { CallerChoice, Overview } from '../../../engine/console/contract.ts'
import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { Answer, requestIdOf } from './answer.tsx'
import { useCaller } from '../callers/callers.ts'
import { client, overviewQuery } from '../client.ts'
import { addressOf } from '../location.ts'
import { headersOf, keepTag, toJson, useDraft } from './drafts.ts'
import { Problem } from '../problem.tsx'
import { Question } from '../question.tsx'
import { Comparison, keepRun } from '../requests/comparison.tsx'
import { RecordedFailure } from '../requests/failure.tsx'
import { About, Reference } from './reference.tsx'
import { SameCall } from './same-call.tsx'
import { isDestructive } from './snippets.ts'
import { SampleCallForm } from '../callers/sample-call-form.tsx'

/** Length of the input in a question, in characters. */
const MAX_SHOWN = 200

const describeCaller = ({ person }: CallerChoice, overview: Overview | undefined) =>
  person === null
    ? 'a signed-out caller'
    : (overview?.people.find((each) => each.person === person)?.email ?? person)

/** The detail of a procedure: facts, a form that calls the procedure, the answer, and the same call for other clients. */
export function Procedure({ procedure }: { procedure: ProcedureDescription }) {
  const { operation, isStream, resource } = procedure
  const state = useDraft(procedure)
  const { draft, change, parsed } = state
  const caller = useCaller(procedure)
  const { data: overview } = useQuery(overviewQuery)
  const call = useMutation({
    mutationFn: (input: unknown) =>
      client.procedures.call({ operation, input, caller: caller.caller, headers: headersOf(draft) }),
    onSuccess: (result) => {
      keepTag(resource, result.headers)
      keepRun(operation, requestIdOf(result))
    },
  })
  const [isAsking, setAsking] = useState(false)
  const send = () => {
    if (!parsed.isValid) return
    change({ isEdited: true, sent: toJson(parsed.input) })
    call.mutate(parsed.input)
  }
  const run = () => {
    change({ isEdited: true })
    if (!parsed.isValid || call.isPending) return
    if (isDestructive(procedure)) setAsking(true)
    else send()
  }
  return (
    <article className="procedure">
      <About procedure={procedure} />
      <div className="call">
        {isStream ? (
          <section>
            <h3>Call</h3>
            {operation === 'live.watch' ? (
              <p>
                The answer of this procedure is a stream of events.{' '}
                <a href={addressOf('live', 'open')}>Open a stream, and see its events</a>
              </p>
            ) : (
              <p>
                The answer of this procedure is a stream of events, which the console does not show. Call the
                procedure with curl or TypeScript:
              </p>
            )}
          </section>
        ) : (
          <SampleCallForm
            procedure={procedure}
            state={state}
            caller={caller}
            isPending={call.isPending}
            onRun={run}
          />
        )}
        {isAsking && (
          <Question
            title={`Call ${operation}?`}
            action={`Call ${operation}`}
            onConfirm={send}
            onClose={() => {
              setAsking(false)
            }}
          >
            As {describeCaller(caller.caller, overview)}
            {parsed.isValid && parsed.input !== undefined && (
              <>
                {' '}
                with <code>{JSON.stringify(parsed.input).slice(0, MAX_SHOWN)}</code>
              </>
            )}
            . This deletes something, or ends an access.
          </Question>
        )}
        <div className="results">
          <Problem error={call.error} onRetry={run} />
          {call.data && (
            <Answer
              result={call.data}
              addressOfRequest={(request) => addressOf('requests', request)}
              failureOf={(request) => <RecordedFailure id={request} />}
              recordedOf={(request) => <Comparison id={request} />}
            />
          )}
          {overview && (
            <SameCall
              origin={overview.origin}
              procedure={procedure}
              state={state}
              isSignedIn={caller.caller.person !== null}
            />
          )}
        </div>
      </div>
      <Reference procedure={procedure} />
    </article>
  )
}
