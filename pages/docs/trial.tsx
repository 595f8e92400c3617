import { useMutation, useQuery } from '@tanstack/react-query'
import { use, useState } from 'react'

import { sessionQuery } from '../../engine/dev/page/auth.ts'
import { Confirm } from '../../engine/dev/page/components/confirm.tsx'
import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'
import { Answer } from '../console/procedures/answer.tsx'
import { CallForm } from '../console/procedures/call-form.tsx'
import { type DraftState, headersOf, keepTag } from '../console/procedures/drafts.ts'
import { issuesOfJson, toIssue } from '../console/procedures/input.ts'
import { isDestructive, toRequest } from '../console/procedures/snippets.ts'
import { IdSourceContext } from '../console/procedures/fields/id-options.ts'
import { callProcedure, isRead, issuesIn } from './call.ts'
import { CredentialFields, useCredential } from './credential.tsx'
import { documentQuery } from './document.ts'
import { OpenSignIn } from './sign-in-dialog.tsx'
import { useReferenceTexts } from './texts.ts'

export interface TrialProps {
  procedure: ProcedureDescription
  state: DraftState
}

/** Whether the person wants no further questions before calls that create or change one thing. Only in memory. */
let isTrusted = false

/** The form, and the answer of the last call. Asks before a call that can change something. */
export function Trial({ procedure, state }: TrialProps) {
  const { t, language } = useReferenceTexts()
  const { draft, change, parsed } = state
  const credential = useCredential()
  const { data: session } = useQuery(sessionQuery)
  const openSignIn = use(OpenSignIn)
  const [isAsking, setAsking] = useState(false)
  const call = useMutation({
    mutationFn: (input: unknown) =>
      callProcedure({
        procedure,
        input,
        token: credential.token,
        // The answer is in the language of the page, unless the form names another.
        headers: { 'accept-language': language, ...headersOf(draft) },
      }),
    onSuccess: ({ headers }) => {
      keepTag(procedure.resource, headers)
    },
  })
  const send = () => {
    setAsking(false)
    if (parsed.isValid) call.mutate(parsed.input)
  }
  const canCall = Boolean(credential.token ?? session)
  const run = () => {
    change({ isEdited: true })
    if (!parsed.isValid || call.isPending) return
    if (procedure.access !== 'public' && credential.token === undefined && session === null) openSignIn()
    else if (isRead(procedure) || (isTrusted && !isDestructive(procedure))) send()
    else setAsking(true)
  }
  const { data: content } = useQuery(documentQuery)
  const source = {
    caller: credential.token,
    procedures: content?.procedures ?? [],
    listItems: async (list: ProcedureDescription, input: unknown) =>
      (await callProcedure({ procedure: list, input, token: credential.token, headers: {} })).body,
  }
  const refused = call.data ? issuesIn(call.data) : []
  const issues = parsed.isValid ? refused.map(toIssue) : issuesOfJson(parsed, t('invalidJson'))
  return (
    <IdSourceContext value={canCall ? source : undefined}>
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
      {call.data && <Answer result={call.data} />}
      {isAsking && (
        <Asking
          procedure={procedure}
          path={toRequest(procedure, parsed.isValid ? parsed.input : undefined).path}
          onConfirm={send}
          onClose={() => {
            setAsking(false)
          }}
        />
      )}
    </IdSourceContext>
  )
}

interface AskingProps extends Pick<TrialProps, 'procedure'> {
  path: string
  onConfirm: () => void
  onClose: () => void
}

/** Asks before a call. A person can end the questions, but not the questions before calls that delete something. */
function Asking({ procedure, path, onConfirm, onClose }: AskingProps) {
  const { t } = useReferenceTexts()
  const [isLast, setLast] = useState(false)
  return (
    <Confirm
      title={t('confirmTitle', { operation: procedure.operation })}
      action={t('run')}
      onConfirm={() => {
        isTrusted ||= isLast
        onConfirm()
      }}
      onClose={onClose}
    >
      <p className="route">
        <span className={`method ${procedure.method.toLowerCase()}`}>{procedure.method}</span>{' '}
        <code>{path}</code>
      </p>
      <p>{t('confirmText')}</p>
      {!isDestructive(procedure) && (
        <label>
          <input
            type="checkbox"
            checked={isLast}
            onChange={({ target }) => {
              setLast(target.checked)
            }}
          />
          {t('askNoMore')}
        </label>
      )}
    </Confirm>
  )
}
