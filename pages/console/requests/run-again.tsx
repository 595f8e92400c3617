import { useQuery } from '@tanstack/react-query'

import type { Overview } from '../../../engine/console/contract.ts'
import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { overviewQuery, proceduresQuery } from '../client.ts'
import { addressOf } from '../location.ts'
import { chooseCaller } from '../callers/callers.ts'
import { fillDraft } from '../procedures/drafts.ts'
import { setOriginal } from './comparison.tsx'

/** Returns the caller, if the person of the request is a sample person with a session. */
function callerOf({ person, app }: RecordedRequest, people: Overview['people']) {
  const found = people.find(({ email }) => email === person)
  return found && app === null ? { person: found.person, scopes: null } : undefined
}

/** A link that opens the form of the procedure with the input of the request, and asks before it replaces a draft. */
export function RunAgain({ request }: { request: RecordedRequest }) {
  const { data: overview } = useQuery(overviewQuery)
  const { data: procedures } = useQuery(proceduresQuery)
  const [call] = request.calls
  const procedure = procedures?.find(({ operation }) => operation === call?.operation)
  if (!call || !overview || !procedure || procedure.isStream) return null
  return (
    <p>
      <a
        href={addressOf('procedures', procedure.operation)}
        onClick={(event) => {
          const isFilled = fillDraft(procedure, call.input, () =>
            confirm(`The form of ${procedure.operation} has another input. Replace the input?`),
          )
          if (isFilled) {
            chooseCaller(procedure, callerOf(request, overview.people))
            setOriginal(request)
          } else event.preventDefault()
        }}
      >
        Run again
      </a>
    </p>
  )
}
