import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import {
  ConfirmButton,
  createTexts,
  inPages,
  Loaded,
  Members,
  queryClient,
  useTitle,
  view,
  ViewsWithin,
} from 'tallystick-dev/page'
import { useLocation } from 'wouter'

import { orpc } from '../api.ts'

const texts = createTexts({
  garden: 'Garden',
  sharing: 'Sharing',
  shareGarden: 'Give access',
  shareExplanation: 'The person sees the garden after signing in with this address.',
  roleEditor: 'May edit',
  roleViewer: 'May view',
  noMembers: 'Only you have access.',
  leaveGarden: 'Leave the garden',
  leaveExplanation: 'You lose access to the garden, until its owner shares the garden with you again.',
})

export const garden = view({
  path: '/gardens/{id}',
  title: 'garden',
  access: 'signedIn',
  topics: ['gardens'],
  texts,
  Content: ({ id }) => <Garden id={Number(id)} />,
})

const refresh = () => queryClient.invalidateQueries({ queryKey: orpc.gardens.key() })

/** One garden: what is within, and the people with access. */
function Garden({ id }: { id: number }) {
  const { t } = texts.useLanguage()
  const [, navigate] = useLocation()
  const query = useQuery(orpc.gardens.get.queryOptions({ input: { id } }))
  useTitle(query.data?.title)
  return (
    <Loaded query={query}>
      {({ mine, can }) => (
        <>
          <ViewsWithin />
          {can.SHARE_GARDEN && (
            <section aria-label={t('sharing')}>
              <h2>{t('sharing')}</h2>
              <GardenMembers id={id} />
            </section>
          )}
          {!mine && (
            <section>
              <ConfirmButton
                action={t('leaveGarden')}
                onConfirm={async () => {
                  await orpc.gardens.leave.call({ id })
                  navigate('/gardens')
                  await refresh()
                }}
              >
                <p>{t('leaveExplanation')}</p>
              </ConfirmButton>
            </section>
          )}
        </>
      )}
    </Loaded>
  )
}

function GardenMembers({ id }: { id: number }) {
  const { t } = texts.useLanguage()
  const query = useInfiniteQuery(
    orpc.gardens.members.infiniteOptions({ ...inPages, input: (cursor) => ({ id, limit: 100, cursor }) }),
  )
  return (
    <Members
      query={query}
      members={query.data?.pages.flatMap(({ members }) => members)}
      roles={[
        ['viewer', t('roleViewer')],
        ['editor', t('roleEditor')],
      ]}
      action={t('shareGarden')}
      explanation={t('shareExplanation')}
      empty={t('noMembers')}
      onShare={(member) => orpc.gardens.invite.call({ id, ...member }).then(refresh)}
      onRemove={(email) => orpc.gardens.exclude.call({ id, email }).then(refresh)}
    />
  )
}
