import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { Overview } from '../../../engine/console/contract.ts'
import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { overviewQuery, proceduresQuery } from '../client.ts'
import { addressOf } from '../location.ts'
import { chooseCaller } from '../callers/callers.ts'
import { fillDraft } from '../procedures/drafts.ts'
import { Question } from '../question.tsx'
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
  const [isAsking, setAsking] = useState(false)
  const [call] = request.calls
  const procedure = procedures?.find(({ operation }) => operation === call?.operation)
  if (!call || !overview || !procedure || procedure.isStream) return null
  const address = addressOf('procedures', procedure.operation)
  const fill = (replaces: boolean) => {
    if (!fillDraft(procedure, call.input, replaces)) return false
    chooseCaller(procedure, callerOf(request, overview.people))
    setOriginal(procedure.operation, request)
    return true
  }
  return (
    <>
      <p>
        <a
          href={address}
          onClick={(event) => {
            if (fill(false)) return
            event.preventDefault()
            setAsking(true)
          }}
        >
          Run again
        </a>
      </p>
      {isAsking && (
        <Question
          title={`Replace the input of ${procedure.operation}?`}
          action="Replace"
          onConfirm={() => {
            fill(true)
            location.hash = address
          }}
          onClose={() => {
            setAsking(false)
          }}
        >
          The form has an input that was not sent. It is lost.
        </Question>
      )}
    </>
  )
}
