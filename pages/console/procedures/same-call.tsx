import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { ProcedureDescription } from '../../../engine/console/contract.ts'
import { overviewQuery } from '../client.ts'
import { Code } from '../code/copy.tsx'
import { type Draft, headersOf } from './drafts.ts'
import type { ParsedInput } from './input.ts'
import { Segments } from './segments.tsx'
import { type Call, needsSession, toCommandLine, toCurl, toMcpCurl, toMcpMessage } from './snippets.ts'
import { toTypeScript } from './typescript-snippet.ts'

const clients = { curl: 'curl', typescript: 'TypeScript', commandLine: 'Command line', mcp: 'MCP' }
type Client = keyof typeof clients

/** The client that was selected last, so that the choice survives a change of the procedure. */
let lastClient: Client = 'curl'

interface Props {
  procedure: ProcedureDescription
  draft: Draft
  parsed: ParsedInput
}

/** The call with its current input as code for other clients. */
export function SameCall({ procedure, draft, parsed }: Props) {
  const { data: overview } = useQuery(overviewQuery)
  const [client, setClient] = useState(lastClient)
  if (!overview) return null
  const { isStream } = procedure
  return (
    <section aria-label="The same call">
      <div className="row head">
        <h3>The same call</h3>
        {!isStream && (
          <Segments
            legend="Client"
            options={clients}
            value={client}
            onChange={(value) => {
              lastClient = value
              setClient(value)
            }}
          />
        )}
      </div>
      {parsed.isValid ? (
        <Snippet
          client={isStream ? 'typescript' : client}
          call={{
            origin: overview.origin,
            mcp: overview.mcp,
            procedure,
            input: parsed.input,
            caller: draft.caller,
            headers: headersOf(draft),
          }}
        />
      ) : (
        <p className="muted">The input is not valid JSON.</p>
      )}
    </section>
  )
}

function Snippet({ client, call }: { client: Client; call: Call }) {
  const isSignedIn = call.caller.person !== null
  if (client === 'mcp') return <Mcp call={call} />
  if (client === 'commandLine')
    return (
      <>
        <Code text={toCommandLine(call)} name="the command" language="shell" />
        {needsSession(call.procedure) ? (
          <p className="muted">
            The command line has an access token, and this procedure accepts only a session.
          </p>
        ) : (
          isSignedIn && (
            <p className="muted">
              Once before: <code>npx tallystick login</code>
            </p>
          )
        )}
      </>
    )
  return (
    <>
      {client === 'curl' ? (
        <Code text={toCurl(call)} name="the command for curl" language="shell" />
      ) : (
        <Code text={toTypeScript(call)} name="the code" language="typescript" />
      )}
      {isSignedIn && <CredentialHint isSession={needsSession(call.procedure)} />}
    </>
  )
}

const CredentialHint = ({ isSession }: { isSession: boolean }) =>
  isSession ? (
    <p className="muted">
      <code>COOKIE</code> is the session cookie of the browser: this procedure accepts no access token.
    </p>
  ) : (
    <p className="muted">
      <code>TOKEN</code> is an access token:{' '}
      <code>npx tallystick create-token --label Script --scope &quot;read write&quot;</code>
    </p>
  )

function Mcp({ call }: { call: Call }) {
  const message = toMcpMessage(call)
  if (!message) return <p className="muted">Agents cannot call this procedure.</p>
  return (
    <>
      <Code text={JSON.stringify(message, null, 2)} name="the message of an agent" />
      <Code text={toMcpCurl(call)} name="the message for curl" language="shell" />
      {call.caller.person !== null && (
        <p className="muted">
          <code>AGENT</code> is an access token for agents:{' '}
          <code>npx tallystick create-token --label Agent --scope &quot;read write&quot; --for mcp</code>
        </p>
      )}
    </>
  )
}
