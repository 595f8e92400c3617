import { useQuery } from '@tanstack/react-query'
import { use, useId, useState } from 'react'

import { sessionQuery } from '../../engine/dev/page/auth.ts'
import { Segments } from '../console/procedures/segments.tsx'
import { OpenSignIn } from './sign-in-dialog.tsx'
import { useReferenceTexts } from './texts.ts'

interface Credential {
  kind: 'session' | 'token'
  token: string
}

/** The credential of all calls. Only in memory, so that a reload forgets the token. */
let last: Credential = { kind: 'session', token: '' }

/** Returns the credential of the calls, and the token if a call sends the token. */
export function useCredential() {
  const [credential, setCredential] = useState(last)
  const change = (changes: Partial<Credential>) => {
    last = { ...last, ...changes }
    setCredential(last)
  }
  return { credential, change, token: credential.kind === 'token' ? credential.token.trim() : undefined }
}

/** Chooses between the session of the browser and an access token. */
export function CredentialFields({
  state: { credential, change },
}: {
  state: ReturnType<typeof useCredential>
}) {
  const { t } = useReferenceTexts()
  const { data: session } = useQuery(sessionQuery)
  const openSignIn = use(OpenSignIn)
  const id = useId()
  return (
    <div className="field">
      <Segments
        legend={t('callWith')}
        options={{ session: t('session'), token: t('token') }}
        value={credential.kind}
        onChange={(kind) => {
          change({ kind })
        }}
      />
      {credential.kind === 'session' ? (
        <div className="row identity">
          <small className="hint">
            {session ? t('signedInAs', { email: session.user.email }) : t('notSignedIn')}
          </small>
          {session === null && (
            <button type="button" className="secondary small" onClick={openSignIn}>
              {t('signIn')}
            </button>
          )}
        </div>
      ) : (
        <>
          <label htmlFor={id}>{t('token')}</label>
          <input
            id={id}
            type="password"
            autoComplete="off"
            spellCheck={false}
            aria-describedby={`${id}-hint`}
            value={credential.token}
            onChange={({ target }) => {
              change({ token: target.value })
            }}
          />
          <small id={`${id}-hint`} className="hint">
            {t('tokenInMemory')}
          </small>
        </>
      )}
    </div>
  )
}
