import type { ProcedureDescription } from '../../../engine/console/contract.ts'
import { Marked } from '../code/marked.tsx'
import { Code } from '../code/copy.tsx'

const accessTexts = {
  public: 'Anybody',
  signedIn: 'Signed-in callers',
  administrators: 'Administrators',
} satisfies Record<ProcedureDescription['access'], string>

function scopeText({ access, scope }: ProcedureDescription) {
  if (scope) return `Access tokens need the scope ${scope}`
  return access === 'public' ? 'No token needed' : 'No access tokens: only a session'
}

/** The names of periods by their lengths in seconds. */
const periods: Partial<Record<number, string>> = { 1: 'second', 60: 'minute', 3600: 'hour', 86400: 'day' }

function limitText(limit: ProcedureDescription['rateLimit']) {
  if (!limit) return 'None'
  const { name, points, duration, by } = limit
  return `${points} calls per ${periods[duration] ?? `${duration} seconds`} and ${by} (limit ${name})`
}

/** The access, the limits and the tool of a procedure, in words. */
export function Facts({ procedure }: { procedure: ProcedureDescription }) {
  const { access, rateLimit, headers, tool } = procedure
  return (
    <dl className="facts">
      <dt>Access</dt>
      <dd>{accessTexts[access]}</dd>
      <dt>Tokens</dt>
      <dd>{scopeText(procedure)}</dd>
      <dt>Rate limit</dt>
      <dd>{limitText(rateLimit)}</dd>
      {headers.length > 0 && (
        <>
          <dt>Headers</dt>
          <dd>{headers.join(', ')}</dd>
        </>
      )}
      <dt>Tool for agents</dt>
      <dd>{tool ? <code>{tool}</code> : 'None: agents cannot call this procedure'}</dd>
    </dl>
  )
}

/** The errors and the schemas of a procedure. */
export function Reference({ procedure }: { procedure: ProcedureDescription }) {
  const { errors, input, output, isStream } = procedure
  return (
    <section>
      <h3>Contract</h3>
      {errors.length > 0 && (
        <details open>
          <summary>Errors ({errors.length})</summary>
          <div className="scroll" tabIndex={0} role="group" aria-label="Errors">
            <table>
              <thead>
                <tr>
                  <th scope="col">Code</th>
                  <th scope="col">Status</th>
                  <th scope="col">Message</th>
                </tr>
              </thead>
              <tbody>
                {errors.map(({ code, status, message }) => (
                  <tr key={code}>
                    <th scope="row">
                      <code>{code}</code>
                    </th>
                    <td>{status}</td>
                    <td>
                      <Marked text={message} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      <Schema name="Input" schema={input} />
      {isStream ? (
        <p className="muted">Output: a stream of events</p>
      ) : (
        <Schema name="Output" schema={output} />
      )}
    </section>
  )
}

function Schema({ name, schema }: { name: string; schema: ProcedureDescription['input'] }) {
  if (!schema) return <p className="muted">{name}: none</p>
  return (
    <details>
      <summary>{name} (JSON Schema)</summary>
      <Code text={JSON.stringify(schema, null, 2)} name={`the schema of the ${name.toLowerCase()}`} />
    </details>
  )
}
