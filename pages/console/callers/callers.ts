import { useState } from 'react'

import type { CallerChoice } from '../../../engine/console/contract.ts'
import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'

/** The chosen callers by operation, so that a choice survives a change of the view. */
const chosen = new Map<string, CallerChoice>()

const callers = {
  public: { person: null, scopes: null },
  publicTopics: { person: 'ada', scopes: null },
  signedIn: { person: 'ada', scopes: null },
  administrators: { person: 'admin', scopes: null },
} satisfies Record<ProcedureDescription['access'], CallerChoice>

/** Chooses the caller of a procedure. By default, the caller that the procedure needs. */
export function chooseCaller(
  { operation, access }: ProcedureDescription,
  caller: CallerChoice = callers[access],
) {
  chosen.set(operation, caller)
}

/** Returns the caller of a procedure. The component needs the operation as its key. */
export function useCaller(procedure: ProcedureDescription) {
  const [caller, setCaller] = useState(chosen.get(procedure.operation) ?? callers[procedure.access])
  const choose = (next: CallerChoice) => {
    chooseCaller(procedure, next)
    setCaller(next)
  }
  return { caller, choose }
}
