import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'

import { connect, connectionsQuery, disconnect, type Provider, providersQuery } from '../../auth.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProviderProblem } from '../../components/session/providers.tsx'
import { useLanguage } from '../../language.tsx'

/** The providers of the application, which the person can connect. Shows nothing if there are none. */
export function Connections() {
  const { data: providers = [] } = useQuery(providersQuery)
  return providers.length === 0 ? null : <ConnectionList providers={providers} />
}

function ConnectionList({ providers }: { providers: readonly Provider[] }) {
  const { t } = useLanguage()
  const problem = useProviderProblem()
  const queryClient = useQueryClient()
  const connections = useQuery(connectionsQuery)
  const leave = useMutation({ mutationFn: connect })
  const end = useMutation({
    mutationFn: disconnect,
    onSuccess: () => queryClient.invalidateQueries(connectionsQuery),
  })
  const isPending = leave.isPending || end.isPending
  return (
    <section aria-labelledby="providers-title" className="explained">
      <div>
        <h2 id="providers-title">{t('providers')}</h2>
        <p className="muted">{t('providersExplanation')}</p>
      </div>
      <div>
        <Loaded query={connections}>
          {(connected) => (
            <div className="row">
              {providers.map(({ id, name }) => {
                const connection = connected.find(({ providerId }) => providerId === id)
                return (
                  <button
                    key={id}
                    className="secondary"
                    aria-busy={isPending}
                    onClick={() => {
                      if (connection) end.mutate(connection.id)
                      else leave.mutate(id)
                    }}
                  >
                    {t(connection ? 'disconnectProvider' : 'connectProvider', { provider: name })}
                  </button>
                )
              })}
            </div>
          )}
        </Loaded>
        <Problem error={leave.error ?? end.error ?? problem} />
      </div>
    </section>
  )
}
