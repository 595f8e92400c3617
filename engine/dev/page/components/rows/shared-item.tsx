import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'

import { queryClient } from '../../query-client.ts'
import { ConfirmButton } from '../confirm-button.tsx'
import { Loaded } from '../loaded.tsx'
import { useTitle } from '../views/title.ts'
import { ViewsWithin } from '../views/views-within.tsx'

interface Props {
  query: UseQueryResult<{ title: string; mine: boolean }>
  /** The people with access: `<Members>`. Nothing if the person may not share the item. */
  children: ReactNode
  /** The name of the button that ends the access of a member. */
  leave: string
  /** The consequences of leaving. */
  explanation: string
  onLeave: () => Promise<unknown>
}

/**
 * The view of an item that people share: its title, the views within, the people with access, and for the others a button that leaves
 * the item. The view is directly below the list in the address, as `/projects/7`.
 *
 * @example
 * <SharedItem query={query} leave={t('leave')} explanation={t('leaveText')} onLeave={leave}>
 *   {canShare && <Members … />}
 * </SharedItem>
 */
export function SharedItem({ query, leave, explanation, onLeave, children }: Props) {
  const [location, navigate] = useLocation()
  useTitle(query.data?.title)
  return (
    <Loaded query={query}>
      {({ mine }) => (
        <>
          <ViewsWithin />
          {children && <section>{children}</section>}
          {!mine && (
            <section>
              <ConfirmButton
                action={leave}
                onConfirm={async () => {
                  await onLeave()
                  navigate(location.slice(0, location.lastIndexOf('/')))
                  await queryClient.invalidateQueries()
                }}
              >
                <p>{explanation}</p>
              </ConfirmButton>
            </section>
          )}
        </>
      )}
    </Loaded>
  )
}
