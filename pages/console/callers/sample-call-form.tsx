import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'

import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { client, overviewQuery, proceduresQuery } from '../client.ts'
import { CallForm } from '../procedures/call-form.tsx'
import { IdSourceContext } from '../procedures/fields/id-options.ts'
import { CallerSelect } from './caller-select.tsx'
import type { useCaller } from './callers.ts'
import { useIssues } from './issues.ts'

interface Props extends Omit<ComponentProps<typeof CallForm>, 'issues' | 'children'> {
  caller: ReturnType<typeof useCaller>
}

/** The form that calls a procedure as a sample person. The service validates the input while a person types. */
export function SampleCallForm({ caller: { caller, choose }, ...form }: Props) {
  const { data: overview } = useQuery(overviewQuery)
  const { draft, parsed } = form.state
  const issues = useIssues(form.procedure.operation, parsed, draft.isEdited)
  const { data: procedures = [] } = useQuery(proceduresQuery)
  const source = {
    caller,
    procedures,
    listItems: async ({ operation }: ProcedureDescription, input: unknown) =>
      (await client.procedures.call({ operation, input, caller, headers: {}, isRecorded: false })).body,
  }
  return (
    <IdSourceContext value={source}>
      <CallForm {...form} issues={issues}>
        <CallerSelect people={overview?.people ?? []} value={caller} onChange={choose} />
      </CallForm>
    </IdSourceContext>
  )
}
