import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createTexts, Members, pagesOf, SharedItem, view } from 'tallystick-dev/page'

import { orpc } from '../api.ts'

const texts = createTexts({
  garden: 'Garden',
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

/** One garden: what is within, and the people with access. */
function Garden({ id }: { id: number }) {
  const { t } = texts.useLanguage()
  const query = useQuery(orpc.gardens.get.queryOptions({ input: { id } }))
  return (
    <SharedItem
      query={query}
      leave={t('leaveGarden')}
      explanation={t('leaveExplanation')}
      onLeave={() => orpc.gardens.leave.call({ id })}
    >
      {query.data?.can.SHARE_GARDEN && <GardenMembers id={id} />}
    </SharedItem>
  )
}

function GardenMembers({ id }: { id: number }) {
  const { t } = texts.useLanguage()
  const query = useInfiniteQuery(orpc.gardens.members.infiniteOptions(pagesOf({ id })))
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
      onShare={(member) => orpc.gardens.invite.call({ id, ...member })}
      onRemove={(email) => orpc.gardens.exclude.call({ id, email })}
    />
  )
}
