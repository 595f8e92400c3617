import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ORPCError } from 'tallystick-contract/internal'

import { continueWith, providersQuery } from '../../auth.ts'
import { useLanguage } from '../../language.tsx'
import { Problem } from '../problem.tsx'

/** Returns the problem that the service has added to the address after a sign-in by a provider, and removes it there. */
export function useProviderProblem() {
  const [problem] = useState(() => {
    const code = new URLSearchParams(window.location.search).get('error')
    return code === null ? null : new ORPCError(code)
  })
  useEffect(() => {
    if (!problem) return
    const url = new URL(window.location.href)
    url.searchParams.delete('error')
    window.history.replaceState(window.history.state, '', url)
  }, [problem])
  return problem
}

/** The buttons of the providers. Shows nothing if the application declares none. */
export function Providers() {
  const { t } = useLanguage()
  const problem = useProviderProblem()
  const { data: providers = [] } = useQuery(providersQuery)
  const leave = useMutation({ mutationFn: continueWith })
  return (
    <>
      <Problem error={leave.error ?? problem} />
      {providers.length > 0 && (
        <div className="row">
          {providers.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              className="secondary"
              disabled={leave.isPending}
              onClick={() => {
                leave.mutate(id)
              }}
            >
              {t('continueWith', { provider: name })}
            </button>
          ))}
        </div>
      )}
    </>
  )
}
