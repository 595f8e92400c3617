import { useQuery } from '@tanstack/react-query'

import type { Overview } from '../../engine/console/contract.ts'
import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'
import { overviewQuery, proceduresQuery } from './client.ts'
import { Marked } from './code/marked.tsx'
import { Code } from './code/copy.tsx'
import { addressOf } from './location.ts'
import { Samples } from './data/samples.tsx'
import { Loaded } from './problem.tsx'
import { Agents, ServiceState } from './service-state.tsx'
import { SignIn } from './sign-in.tsx'

/** The next commands in a project. */
const commands = [
  { command: 'npx tallystick add loans', effect: 'Adds a resource: contract, table, procedures and tests.' },
  { command: 'npm run check && npm test', effect: 'Checks the types, and runs the tests.' },
]

/** Returns the name as a key of a configuration file: `tallystick`. */
const toKey = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'service'

export function Start() {
  const query = useQuery(overviewQuery)
  return (
    <>
      <h2>Start here</h2>
      <Loaded query={query}>
        {(overview) => (
          <>
            <ServiceState />
            <ol className="steps">
              <li>
                <section>
                  <h3>Sign in to the page</h3>
                  <SignIn overview={overview} />
                  <Samples />
                </section>
              </li>
              <li>
                <section>
                  <h3>Call a procedure</h3>
                  <FirstCall />
                </section>
              </li>
              <li>
                <section>
                  <h3>Connect an agent</h3>
                  <Agent overview={overview} />
                </section>
              </li>
              <li>
                <section>
                  <h3>Make it yours</h3>
                  {commands.map(({ command, effect }) => (
                    <div key={command} className="command">
                      <p>
                        <Marked text={effect} />
                      </p>
                      <Code text={command} name={`the command ${command}`} language="shell" />
                    </div>
                  ))}
                </section>
              </li>
            </ol>
            <Facts overview={overview} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** Without a scope, it is a procedure of the engine, such as tokens.create. With a media type, it is another form of a procedure. */
const isOwnCreate = ({ operation, scope, mediaType }: ProcedureDescription) =>
  operation.endsWith('.create') && scope !== null && mediaType === null

/** Whether an input needs the id of a row, which may not exist yet. */
const refersToRow = ({ input }: ProcedureDescription) =>
  Array.isArray(input?.required) && input.required.some((name: unknown) => /(^i|I)d$/.test(String(name)))

/** Links to a procedure that changes data, because its effect is visible in the views Requests and Data. */
function FirstCall() {
  const { data = [] } = useQuery(proceduresQuery)
  const callable = data.filter(({ isStream }) => !isStream)
  const simple = callable.filter(({ input }) => input === null)
  const first =
    // The contract has the newest resource last.
    callable.findLast((each) => isOwnCreate(each) && !refersToRow(each)) ??
    callable.findLast(isOwnCreate) ??
    simple.find(({ access }) => access === 'public') ??
    simple[0] ??
    callable[0]
  return (
    <>
      <p>
        The console calls each procedure as a sample person, and shows the same call for curl, TypeScript, the
        command line and agents.
      </p>
      <p className="row">
        {first && (
          <a role="button" href={addressOf('procedures', first.operation)}>
            Call {first.operation}
          </a>
        )}
        <a href={addressOf('procedures')}>All procedures</a>
      </p>
      <p>
        Then look at the <a href={addressOf('requests')}>requests</a> with their SQL statements, and at the{' '}
        <a href={addressOf('data')}>data</a>.
      </p>
    </>
  )
}

function Agent({ overview: { name, mcp } }: { overview: Overview }) {
  const key = toKey(name)
  const configuration = { mcpServers: { [key]: { type: 'http', url: mcp } } }
  return (
    <>
      <p>An agent that speaks MCP needs only this address. You consent in the browser.</p>
      <Code text={mcp} name="the address for agents" />
      <p>Claude Code:</p>
      <Code
        text={`claude mcp add --transport http ${key} ${mcp}`}
        name="the command for Claude Code"
        language="shell"
      />
      <p>Other agents, for example in .mcp.json:</p>
      <Code text={JSON.stringify(configuration, null, 2)} name="the configuration for agents" />
      <Agents />
    </>
  )
}

function Facts({ overview: { version, origin, data, mail } }: { overview: Overview }) {
  return (
    <section>
      <h3>This service</h3>
      <dl className="facts">
        <dt>Version</dt>
        <dd>{version}</dd>
        <dt>Page</dt>
        <dd>
          <a href={origin}>{origin}</a>
        </dd>
        <dt>API reference</dt>
        <dd>
          <a href={`${origin}/docs`}>{origin}/docs</a>
        </dd>
        <dt>Data</dt>
        <dd>{data}</dd>
        <dt>E-mails</dt>
        <dd>{mail}</dd>
      </dl>
    </section>
  )
}
