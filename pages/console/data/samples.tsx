import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { client, overviewQuery, queryClient } from '../client.ts'
import { Problem } from '../problem.tsx'
import { Question } from '../question.tsx'

const listFormat = new Intl.ListFormat('en')

/** The buttons that add sample data, and that begin again with it. Shown only if resources have sample data. */
export function Samples() {
  const { data: overview } = useQuery(overviewQuery)
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: (name: 'addSamples' | 'resetSamples') => client.data[name](),
    onSuccess: () => queryClient.invalidateQueries(),
  })
  const [isAsking, setAsking] = useState(false)
  if (!overview || overview.samples.length === 0) return null
  const accounts = listFormat.format(
    overview.people.filter(({ person }) => person !== 'admin').map(({ email }) => email),
  )
  return (
    <div className="samples">
      <p className="row">
        <button
          type="button"
          className="secondary"
          disabled={isPending}
          aria-busy={isPending && variables === 'addSamples'}
          onClick={() => {
            mutate('addSamples')
          }}
        >
          Add sample data
        </button>
        <button
          type="button"
          className="secondary"
          disabled={isPending}
          aria-busy={isPending && variables === 'resetSamples'}
          onClick={() => {
            setAsking(true)
          }}
        >
          Reset
        </button>
      </p>
      <p role="status" className="muted">
        {data?.message ?? `Adds rows for ${listFormat.format(overview.samples)}.`}
      </p>
      {isAsking && (
        <Question
          title="Reset the sample data?"
          action="Delete and add again"
          onConfirm={() => {
            mutate('resetSamples')
          }}
          onClose={() => {
            setAsking(false)
          }}
        >
          Deletes {accounts} with all their rows, and adds the sample data again.
        </Question>
      )}
      <Problem
        error={error}
        onRetry={() => {
          if (variables) mutate(variables)
        }}
      />
    </div>
  )
}
