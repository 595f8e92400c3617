import { useMutation, useQuery } from '@tanstack/react-query'
import { use, useEffect, useRef } from 'react'

import { type Session, sessionQuery, signOut } from '../../engine/dev/page/auth.ts'
import { LanguageSelect } from '../../engine/dev/page/components/language-select.tsx'
import { useAppLanguage } from '../../engine/dev/page/language.tsx'
import { announceSession } from '../../engine/dev/page/session-changes.ts'
import { OpenSignIn } from './sign-in-dialog.tsx'
import { useReferenceTexts } from './texts.ts'

/** The name of the application, the language, and the session of the browser. */
export function Header({ name }: { name: string }) {
  const { t, language } = useReferenceTexts()
  const { choose } = useAppLanguage()
  return (
    <header>
      <a
        className="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault()
          document.getElementById('content')?.focus()
        }}
      >
        {t('skipToContent')}
      </a>
      <div className="bar">
        <h1>
          <a href="/">{name}</a> <mark>{t('reference')}</mark>
        </h1>
        <p className="links">
          <a href="/api/openapi.json">{t('document')}</a>
        </p>
        <Account />
        <LanguageSelect label={t('language')} language={language} onLanguage={choose} />
      </div>
    </header>
  )
}

/**
 * Loads the page again when a session ends or another one begins, also by another tab: answers, drafts and a token of the last person
 * do not remain.
 */
function useReloadAfter(session: Session | null | undefined) {
  const last = useRef<string | null>(null)
  useEffect(() => {
    if (session === undefined) return
    const id = session?.session.id ?? null
    if (last.current !== null && last.current !== id) location.reload()
    last.current = id
  }, [session])
}

/** Signs in and out. */
function Account() {
  const { t } = useReferenceTexts()
  const { data: session } = useQuery(sessionQuery)
  const openSignIn = use(OpenSignIn)
  useReloadAfter(session)
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      announceSession()
      location.reload()
    },
  })
  return (
    <div className="session">
      <p role="status" className={session ? undefined : 'wide'}>
        {session && t('signedInAs', { email: session.user.email })}
        {session === null && t('notSignedIn')}
      </p>
      {session ? (
        <button
          type="button"
          className="secondary"
          aria-busy={leave.isPending}
          onClick={() => {
            leave.mutate()
          }}
        >
          {t('signOut')}
        </button>
      ) : (
        <button type="button" className="secondary" onClick={openSignIn}>
          {t('signIn')}
        </button>
      )}
    </div>
  )
}
