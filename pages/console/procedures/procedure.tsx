import { useMutation } from '@tanstack/react-query'

import type { ProcedureDescription } from '../../../engine/console/contract.ts'
import { Answer } from './answer.tsx'
import { CallForm } from './call-form.tsx'
import { Marked } from '../code/marked.tsx'
import { client } from '../client.ts'
import { addressOf } from '../location.ts'
import { headersOf, lastTags, useDraft } from './drafts.ts'
import { Problem } from '../problem.tsx'
import { Facts, Reference } from './reference.tsx'
import { SameCall } from './same-call.tsx'

/** The detail of a procedure: facts, a form that calls the procedure, the answer, and the same call for other clients. */
export function Procedure({ procedure }: { procedure: ProcedureDescription }) {
  const { operation, summary, description, method, path, isStream, resource } = procedure
  const state = useDraft(procedure)
  const { draft, change, parsed } = state
  const call = useMutation({
    mutationFn: (input: unknown) =>
      client.procedures.call({ operation, input, caller: draft.caller, headers: headersOf(draft) }),
    onSuccess: ({ headers }) => {
      const tag = headers.find(([name]) => name.toLowerCase() === 'etag')?.[1]
      if (tag) lastTags.set(resource, tag)
    },
  })
  const run = () => {
    change({ isEdited: true })
    if (parsed.isValid && !call.isPending) call.mutate(parsed.input)
  }
  return (
    <article className="procedure">
      <section className="about">
        <div>
          <h2>{operation}</h2>
          <p className="route">
            <span className={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
          </p>
          <p>
            <Marked text={summary} />
          </p>
          {description && description.replace(/\.$/, '') !== summary && (
            <p className="muted">
              <Marked text={description} />
            </p>
          )}
        </div>
        <Facts procedure={procedure} />
      </section>
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
                procedure from TypeScript:
              </p>
            )}
          </section>
        ) : (
          <CallForm procedure={procedure} state={state} isPending={call.isPending} onRun={run} />
        )}
        <div className="results">
          <Problem error={call.error} onRetry={run} />
          {call.data && <Answer result={call.data} />}
          <SameCall procedure={procedure} draft={draft} parsed={parsed} />
        </div>
      </div>
      <Reference procedure={procedure} />
    </article>
  )
}
