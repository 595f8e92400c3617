import { useState } from 'react'

import { Code } from '../code/copy.tsx'
import { type DraftState, headersOf } from './drafts.ts'
import { Segments } from './segments.tsx'
import {
  type Call,
  needsSession,
  toCommandLine,
  toCreateToken,
  toCurl,
  toLogin,
  toMcpCurl,
  toMcpMessage,
} from './snippets.ts'
import { useTexts } from './texts.ts'
import { toTypeScript } from './typescript-snippet.ts'

type Client = 'curl' | 'typescript' | 'commandLine' | 'mcp'

/** The client that was selected last, so that the choice survives a change of the procedure. */
let lastClient: Client = 'curl'

interface Props extends Pick<Call, 'origin' | 'procedure' | 'isSignedIn'> {
  state: DraftState
  title?: string
}

/** The call with its current input as code for other clients. The command line and agents receive no streams. */
export function SameCall({ state: { draft, parsed }, procedure, title, ...call }: Props) {
  const { t } = useTexts()
  const [chosen, setClient] = useState(lastClient)
  const ofStreams = { curl: 'curl', typescript: 'TypeScript' }
  const clients: Partial<Record<Client, string>> = procedure.isStream
    ? ofStreams
    : { ...ofStreams, commandLine: t('commandLine'), mcp: 'MCP' }
  const client = clients[chosen] ? chosen : 'curl'
  const heading = title ?? t('sameCall')
  return (
    <section aria-label={heading}>
      <div className="row head">
        <h3>{heading}</h3>
        <Segments
          legend={t('client')}
          options={clients}
          value={client}
          onChange={(value) => {
            lastClient = value
            setClient(value)
          }}
        />
      </div>
      {parsed.isValid ? (
        <Snippet
          client={client}
          call={{ ...call, procedure, input: parsed.input, headers: headersOf(draft) }}
        />
      ) : (
        <p className="muted">{t('invalidJson')}</p>
      )}
    </section>
  )
}

function Snippet({ client, call }: { client: Client; call: Call }) {
  const { t } = useTexts()
  if (client === 'mcp') return <Mcp call={call} />
  if (client === 'commandLine')
    return (
      <>
        <Code text={toCommandLine(call)} name={t('commandLine')} language="shell" />
        {needsSession(call.procedure) ? (
          <p className="muted">{t('onlySession')}</p>
        ) : (
          call.isSignedIn && (
            <p className="muted">
              {t('onceBefore')} <code>{toLogin(call)}</code>
            </p>
          )
        )}
      </>
    )
  return (
    <>
      {client === 'curl' ? (
        <Code text={toCurl(call)} name="curl" language="shell" />
      ) : (
        <Code text={toTypeScript(call)} name="TypeScript" language="typescript" />
      )}
      {call.isSignedIn && <CredentialHint call={call} />}
    </>
  )
}

function CredentialHint({ call }: { call: Call }) {
  const { t } = useTexts()
  if (needsSession(call.procedure)) return <p className="muted">{t('cookieHint')}</p>
  return (
    <p className="muted">
      {t('tokenHint')} <code>{toCreateToken(call, 'scripts')}</code>
    </p>
  )
}

function Mcp({ call }: { call: Call }) {
  const { t } = useTexts()
  const message = toMcpMessage(call)
  if (!message) return <p className="muted">{t('noAgents')}</p>
  return (
    <>
      <Code text={JSON.stringify(message, null, 2)} name="MCP" />
      <Code text={toMcpCurl(call)} name="MCP, curl" language="shell" />
      <p className="muted">
        {t('agentHint')} <code>{toCreateToken(call, 'agents')}</code>
      </p>
    </>
  )
}
