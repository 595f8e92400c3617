import { useMutation } from '@tanstack/react-query'

import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { client } from '../client.ts'
import { Code } from '../code/copy.tsx'
import { formatDuration } from '../format.ts'
import { Problem } from '../problem.tsx'
import { Bar } from './waterfall.tsx'

/** The statements of a request, each with its part of the time, and its plan on demand. */
export function Statements({ request }: { request: RecordedRequest }) {
  const { statements, statementCount, databaseTime, duration: total } = request
  if (statementCount === 0) return <p className="muted">No statements.</p>
  return (
    <>
      <h4>
        {statementCount} {statementCount === 1 ? 'statement' : 'statements'}, {formatDuration(databaseTime)}
      </h4>
      {statements.length < statementCount && (
        <p className="muted">The console has recorded the first {statements.length}.</p>
      )}
      <ol className="statements">
        {[...new Set(statements.map(({ text }) => text))].map((text) => (
          <EqualStatements
            key={text}
            text={text}
            statements={statements.filter((each) => each.text === text)}
            total={total}
          />
        ))}
      </ol>
    </>
  )
}

interface Props {
  text: string
  /** The executions, the first one first. */
  statements: RecordedRequest['statements']
  /** The duration of the request, in milliseconds. */
  total: number
}

/** A statement with each of its executions: a statement in a loop is one entry. */
function EqualStatements({ text, statements, total }: Props) {
  const [first] = statements
  if (!first) return null
  const durations = statements.map(({ duration }) => duration)
  const sum = formatDuration(durations.reduce((a, b) => a + b))
  return (
    <li>
      <p className="row">
        <strong className="grow">{first.name}</strong>
        {statements.some(({ failed }) => failed) && <span className="status failed">failed</span>}
        <span>
          {statements.length === 1
            ? sum
            : `${statements.length} times, ${sum}, slowest ${formatDuration(Math.max(...durations))}`}
        </span>
      </p>
      <Bar spans={statements} total={total} />
      <Code text={text} name="the statement" language="sql" />
      <StatementPlan id={first.id} name={first.name} />
    </li>
  )
}

/** A button that shows how PostgreSQL executes a statement, without its values. */
function StatementPlan({ id, name }: { id: string; name: string }) {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => client.statements.explain({ id }),
  })
  const run = () => {
    mutate()
  }
  return (
    <>
      <button
        type="button"
        className="secondary small"
        aria-label={`Explain ${name}`}
        aria-busy={isPending}
        onClick={run}
      >
        Explain
      </button>
      <Problem error={error} onRetry={run} />
      <div role="status">
        {data?.reason && <p className="muted">PostgreSQL has no plan: {data.reason}</p>}
        {data?.text && (
          <>
            <p className="caption">Plan for any values, with estimates. The statement was not executed.</p>
            <Code text={data.text} name="the plan" />
          </>
        )}
      </div>
    </>
  )
}
