import { useMutation, useQuery } from '@tanstack/react-query'
import { use, useEffect, useRef, useState } from 'react'

import { sessionQuery } from '../../engine/dev/page/auth.ts'
import { Confirm } from '../../engine/dev/page/components/confirm.tsx'
import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'
import { Answer } from '../console/procedures/answer.tsx'
import { CallForm } from '../console/procedures/call-form.tsx'
import { type DraftState, headersOf, keepTag, useDraft } from '../console/procedures/drafts.ts'
import { issuesOfJson, toIssue } from '../console/procedures/input.ts'
import { About, Reference } from '../console/procedures/reference.tsx'
import { SameCall } from '../console/procedures/same-call.tsx'
import { toRequest } from '../console/procedures/snippets.ts'
import { callProcedure, isRead, issuesIn } from './call.ts'
import { CredentialFields, useCredential } from './credential.tsx'
import { OpenSignIn } from './sign-in-dialog.tsx'
import { useReferenceTexts } from './texts.ts'

interface Props {
  /** The origin of the service. */
  origin: string
  procedure: ProcedureDescription
}

/** The width from which the form is beside the contract, as in main.css. */
const WIDE = '(min-width: 75rem)'

/** A procedure: facts, an example for several clients, a form that is open on wide screens, and the contract. */
export function Procedure({ origin, procedure }: Props) {
  const { t } = useReferenceTexts()
  const state = useDraft(procedure)
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches)
  return (
    <article className="procedure">
      <About procedure={procedure} />
      <div className="trial">
        <SameCall
          title={t('example')}
          origin={origin}
          procedure={procedure}
          state={state}
          isSignedIn={procedure.access !== 'public'}
        />
        {procedure.isStream && <p className="muted">{t('streamCall')}</p>}
        {!procedure.isStream &&
          (isOpen ? (
            <Trial procedure={procedure} state={state} />
          ) : (
            <button
              type="button"
              className="try"
              onClick={() => {
                setOpen(true)
              }}
            >
              {t('tryIt')}
            </button>
          ))}
      </div>
      <Reference procedure={procedure} />
    </article>
  )
}

interface TrialProps extends Pick<Props, 'procedure'> {
  state: DraftState
}

/** The form, and the answer of the last call. Asks before a call that can change something. */
function Trial({ procedure, state }: TrialProps) {
  const { t } = useReferenceTexts()
  const { draft, change, parsed } = state
  const credential = useCredential()
  const { data: session } = useQuery(sessionQuery)
  const openSignIn = use(OpenSignIn)
  const [isAsking, setAsking] = useState(false)
  const call = useMutation({
    mutationFn: (input: unknown) =>
      callProcedure({ procedure, input, token: credential.token, headers: headersOf(draft) }),
    onSuccess: ({ headers }) => {
      keepTag(procedure.resource, headers)
    },
  })
  const answer = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (call.data) answer.current?.scrollIntoView({ block: 'nearest' })
  }, [call.data])
  const send = () => {
    setAsking(false)
    if (parsed.isValid) call.mutate(parsed.input)
  }
  const run = () => {
    change({ isEdited: true })
    if (!parsed.isValid || call.isPending) return
    if (procedure.access !== 'public' && credential.credential.kind === 'session' && session === null)
      openSignIn()
    else if (isRead(procedure)) send()
    else setAsking(true)
  }
  const refused = call.data ? issuesIn(call.data) : []
  const issues = parsed.isValid ? refused.map(toIssue) : issuesOfJson(parsed)
  return (
    <>
      <CallForm
        procedure={procedure}
        state={state}
        issues={draft.isEdited ? issues : []}
        isPending={call.isPending}
        onRun={run}
      >
        {procedure.access !== 'public' && <CredentialFields state={credential} />}
      </CallForm>
      {call.error && (
        <p role="alert" className="problem">
          {t('callFailed')}
        </p>
      )}
      <div ref={answer}>{call.data && <Answer result={call.data} />}</div>
      {isAsking && (
        <Confirm
          title={t('confirmTitle', { operation: procedure.operation })}
          action={t('run')}
          onConfirm={send}
          onClose={() => {
            setAsking(false)
          }}
        >
          <p className="route">
            <span className={`method ${procedure.method.toLowerCase()}`}>{procedure.method}</span>{' '}
            <code>{toRequest(procedure, parsed.isValid ? parsed.input : undefined).path}</code>
          </p>
          <p>{t('confirmText')}</p>
        </Confirm>
      )}
    </>
  )
}
