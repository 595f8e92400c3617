import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { audiences, tokenBounds } from 'tallystick-contract/internal'

import { client, type Inputs } from '../../api.ts'
import { Choice } from '../../components/forms/choice.tsx'
import { Copy } from '../../components/copy.tsx'
import { Field } from '../../components/forms/field.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Problem } from '../../components/problem.tsx'
import { useSession } from '../../components/session/session.tsx'
import { useLanguage } from '../../language.tsx'
import type { Message } from '../../texts.ts'
import { AppItems, isToken, useApps, useRefreshApps } from './apps.tsx'
import { useOutcome } from './outcome.tsx'

/** The personal tokens, and the form that creates a token. */
export function TokenList() {
  const { t } = useLanguage()
  const query = useApps()
  // An administrator who acts as another person cannot create tokens.
  const isOwner = !useSession()?.session.impersonatedBy
  const { heading, announce, outcome } = useOutcome()
  return (
    <section aria-labelledby="tokens-title">
      <h2 id="tokens-title" ref={heading} tabIndex={-1}>
        {t('tokens')}
      </h2>
      <p className="muted">{t('tokensExplanation')}</p>
      {outcome}
      <Loaded query={query}>
        {({ apps }) => (
          <AppItems
            apps={apps.filter(isToken)}
            titleId="tokens-title"
            onRevoked={() => {
              announce(t('tokenRevoked'))
            }}
          />
        )}
      </Loaded>
      {isOwner && <NewToken />}
    </section>
  )
}

type CreateToken = Inputs['tokens']['create']

const accesses = {
  read: { scopes: ['read'], text: 'tokenRead' },
  write: { scopes: ['read', 'write'], text: 'tokenReadWrite' },
} satisfies Record<string, { scopes: CreateToken['scopes']; text: Message }>
const audienceTexts = { service: 'tokenService', mcp: 'tokenMcp' } as const

/** The lifetimes that the page offers, in days. */
const lifetimes = [7, 30, tokenBounds.defaultDays, tokenBounds.maxDays]

function NewToken() {
  const { t, formatDays } = useLanguage()
  const refresh = useRefreshApps()
  const [label, setLabel] = useState('')
  const [audience, setAudience] = useState<(typeof audiences)[number]>('service')
  const [access, setAccess] = useState<keyof typeof accesses>('read')
  const [days, setDays] = useState(tokenBounds.defaultDays)
  const rules = { label: { label: t('tokenLabel'), maxLength: tokenBounds.label } }
  const create = useMutation({
    mutationFn: (input: CreateToken) => client.tokens.create(input),
    onSuccess: async () => {
      setLabel('')
      await refresh()
    },
    // The cache must not keep the token after the person has left the page.
    gcTime: 0,
  })
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!label.trim() || create.isPending) return
          create.mutate({ label, audience, scopes: accesses[access].scopes, days })
        }}
      >
        <Field {...rules.label} dir="auto" required autoComplete="off" value={label} onValue={setLabel} />
        <div className="row end">
          <Choice
            label={t('tokenAudience')}
            value={audience}
            options={audiences.map((option) => [option, t(audienceTexts[option])])}
            onChoice={setAudience}
          />
          <Choice
            label={t('tokenAccess')}
            value={access}
            options={(['read', 'write'] as const).map((option) => [option, t(accesses[option].text)])}
            onChoice={setAccess}
          />
          <Choice
            label={t('tokenLifetime')}
            value={days}
            options={lifetimes.map((option) => [option, formatDays(option)])}
            onChoice={setDays}
          />
          <button aria-busy={create.isPending}>{t('createToken')}</button>
        </div>
        <Problem error={create.error} fields={rules} />
      </form>
      <p role="status" className="outcome">
        {create.data && t('tokenCreated', { label: create.variables.label.trim() })}
      </p>
      {create.data && (
        <>
          <p>
            <code className="text">{create.data.token}</code>
          </p>
          <Copy key={create.data.id} label={t('copyToken')} text={create.data.token} />
        </>
      )}
    </>
  )
}
