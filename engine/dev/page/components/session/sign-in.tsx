import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { retryTimeOf } from 'tallystick-contract/internal'

import { sendCode, sessionQuery, signIn } from '../../auth.ts'
import { useLanguage } from '../../language.tsx'
import { announceSession } from '../../session-changes.ts'
import { useSecondsUntil } from '../countdown.ts'
import { Field } from '../forms/field.tsx'
import { Problem } from '../problem.tsx'
import { Providers } from './providers.tsx'

/** Waiting time before another code can be requested, in milliseconds. */
const RESEND_DELAY = 30_000

/** The key of the latest sent code in the storage of the tab, so that a reload keeps the step. */
const SENT = 'sentCode'

/** Lifetime of a code, in milliseconds. */
const CODE_LIFETIME = 5 * 60_000

interface Sent {
  email: string
  /** In milliseconds since the Unix epoch. 0 if the person has a code from elsewhere. */
  sentAt: number
  /** The folder with the e-mail. Empty if the service sends e-mails. */
  folder: string
}

/** Returns the latest code that this tab has sent, if the code is still valid. */
function findSent() {
  const sent = JSON.parse(sessionStorage.getItem(SENT) ?? 'null') as Sent | null
  return sent && Date.now() - sent.sentAt < CODE_LIFETIME ? sent : undefined
}

function keepSent(sent: Sent) {
  sessionStorage.setItem(SENT, JSON.stringify(sent))
  return sent
}

const forgetSent = () => {
  sessionStorage.removeItem(SENT)
}

/** Signs a person in with a code that the service sends by e-mail. */
export function SignIn() {
  const { t, language } = useLanguage()
  const queryClient = useQueryClient()
  /** The latest code, until the person chooses another address. */
  const [sent, setSent] = useState(findSent)
  const [email, setEmail] = useState(sent?.email ?? '')
  const [otp, setOtp] = useState('')
  const send = useMutation({
    mutationFn: () => sendCode(email, language),
    onSuccess: (folder) => {
      setSent(keepSent({ email, sentAt: Date.now(), folder }))
      setOtp('')
      enter.reset()
    },
  })
  const enter = useMutation({
    mutationFn: () => signIn(email, otp.replaceAll(/\D/g, '')),
    onSuccess: async () => {
      forgetSent()
      announceSession()
      // The session may have another role than the answer of the sign-in.
      await queryClient.invalidateQueries(sessionQuery)
    },
  })

  const resendTime = (sent?.sentAt ?? 0) + RESEND_DELAY
  const waiting = useSecondsUntil(Math.max(resendTime, retryTimeOf(send.error) ?? 0))
  const isLimited = useSecondsUntil(retryTimeOf(enter.error)) > 0
  const fields = { email: { label: t('email'), type: 'email' } }

  if (!sent)
    return (
      <section className="sign-in" aria-labelledby="sign-in-title">
        <h2 id="sign-in-title">{t('signInTitle')}</h2>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            send.mutate()
          }}
        >
          <Field {...fields.email} autoComplete="email" required value={email} onValue={setEmail} />
          <div className="row">
            <button aria-busy={send.isPending} disabled={send.isPending || waiting > 0}>
              {t('sendCode')}
            </button>
            <button
              type="button"
              className="secondary"
              onClick={({ currentTarget }) => {
                if (currentTarget.form?.reportValidity()) setSent({ email, sentAt: 0, folder: '' })
              }}
            >
              {t('haveCode')}
            </button>
          </div>
          <Problem error={send.error} fields={fields} />
        </form>
        <Providers />
      </section>
    )
  return (
    <section className="sign-in" aria-labelledby="sign-in-title">
      <h2 id="sign-in-title">{t('signInTitle')}</h2>
      <p role="status">
        {sent.sentAt > 0 ? t('codeSent', { email }) : <bdi>{email}</bdi>}{' '}
        {sent.folder && t('codeInLog', { folder: sent.folder })}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          enter.mutate()
        }}
      >
        <label>
          {t('code')}
          <input
            className="otp"
            inputMode="numeric"
            autoComplete="one-time-code"
            // Spaces and hyphens are allowed, because some mail programs copy them with the code.
            pattern="\D*(\d\D*){6}"
            required
            autoFocus
            value={otp}
            onChange={({ target }) => {
              setOtp(target.value)
            }}
          />
        </label>
        <button aria-busy={enter.isPending} disabled={enter.isPending || isLimited}>
          {t('signIn')}
        </button>
        <Problem error={enter.error ?? send.error} fields={fields} />
      </form>
      <div className="row">
        <button
          type="button"
          className="secondary"
          disabled={waiting > 0 || send.isPending}
          onClick={() => {
            send.mutate()
          }}
        >
          {waiting > 0 ? t('resendCodeIn', { seconds: waiting }) : t('resendCode')}
        </button>
        <button
          type="button"
          className="secondary"
          onClick={() => {
            forgetSent()
            setSent(undefined)
          }}
        >
          {t('changeEmail')}
        </button>
      </div>
    </section>
  )
}
