import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Problem, Waiting } from 'tallystick-dev/page'

import { orpc } from '../api.ts'
import { useLanguage } from '../language.ts'

/** The shared counter. Changes of other people appear without a request. */
export function Counter() {
  const { t, formatNumber } = useLanguage()
  const queryClient = useQueryClient()
  const [value, setValue] = useState('')
  const { data, error, refetch } = useQuery(orpc.counter.get.queryOptions())
  const onSuccess = (counter: { count: number }) => {
    queryClient.setQueryData(orpc.counter.get.queryKey(), counter)
  }
  const increment = useMutation(orpc.counter.increment.mutationOptions({ onSuccess }))
  const decrement = useMutation(orpc.counter.decrement.mutationOptions({ onSuccess }))
  const reset = useMutation(orpc.counter.reset.mutationOptions({ onSuccess }))
  const set = useMutation(orpc.counter.set.mutationOptions({ onSuccess }))
  const rules = {
    inputValue: {
      label: t('newValue'),
      type: 'number',
      min: Number.MIN_SAFE_INTEGER,
      max: Number.MAX_SAFE_INTEGER,
    },
  }
  const mutations = [increment, decrement, reset, set]
  // Only the error of the latest change, because a later success makes the error of an earlier change obsolete.
  const [latest] = mutations.sort((a, b) => b.submittedAt - a.submittedAt)
  const failed = latest?.isError ? latest : undefined

  return (
    <section className="counter" aria-labelledby="counter-title">
      <h2 id="counter-title">{t('counter')}</h2>
      <div className="row value">
        <output aria-label={t('counter')} aria-busy={!data}>
          {data ? formatNumber(data.count) : '…'}
        </output>
        <div className="row">
          <button
            className="secondary"
            onClick={() => {
              decrement.mutate(undefined)
            }}
          >
            {t('decrement')}
          </button>
          <button
            className="secondary"
            onClick={() => {
              increment.mutate(undefined)
            }}
          >
            {t('increment')}
          </button>
          <button
            className="secondary"
            onClick={() => {
              reset.mutate(undefined)
            }}
          >
            {t('resetCounter')}
          </button>
          <Waiting isPaused={mutations.some(({ isPaused }) => isPaused)} />
        </div>
      </div>
      <form
        className="row end"
        onSubmit={(event) => {
          event.preventDefault()
          set.mutate(
            { inputValue: Number(value) },
            {
              onSuccess: () => {
                setValue('')
              },
            },
          )
        }}
      >
        <Field {...rules.inputValue} step="1" required value={value} onValue={setValue} />
        <button className="secondary">{t('setCounter')}</button>
      </form>
      <Problem
        error={failed?.error ?? (data ? undefined : error)}
        fields={rules}
        {...(!failed && { onRetry: () => void refetch() })}
      />
    </section>
  )
}
