import { useMutation, useQuery } from '@tanstack/react-query'

import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { client, proceduresQuery } from '../client.ts'
import { addressOf } from '../location.ts'
import { Loaded, Problem } from '../problem.tsx'
import { useCaller } from '../callers/callers.ts'
import { useDraft } from '../procedures/drafts.ts'
import { SampleCallForm } from '../callers/sample-call-form.tsx'

/** The form that opens `live.watch`, the same as in the procedures. */
export function OpenStream() {
  const query = useQuery(proceduresQuery)
  return (
    <Loaded query={query}>
      {(procedures) => {
        const watch = procedures.find(({ operation }) => operation === 'live.watch')
        return watch && <StreamForm procedure={watch} />
      }}
    </Loaded>
  )
}

/** Opens a stream, and then shows the stream. The service keeps the stream open until a person closes it, or the console. */
function StreamForm({ procedure }: { procedure: ProcedureDescription }) {
  const state = useDraft(procedure)
  const { change, parsed } = state
  const caller = useCaller(procedure)
  const open = useMutation({
    mutationFn: (input: unknown) => client.live.open({ input, caller: caller.caller }),
    onSuccess: ({ stream }) => {
      location.hash = addressOf('live', stream)
    },
  })
  const run = () => {
    change({ isEdited: true })
    if (parsed.isValid && !open.isPending) open.mutate(parsed.input)
  }
  return (
    <div className="narrow">
      <h2>Open a stream</h2>
      <Problem error={open.error} onRetry={run} />
      <SampleCallForm
        procedure={procedure}
        state={state}
        caller={caller}
        action="Open"
        isPending={open.isPending}
        onRun={run}
      />
    </div>
  )
}
