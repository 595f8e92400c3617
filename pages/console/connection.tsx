import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import { isUnreachable, overviewQuery, queryClient } from './client.ts'

/** Says that the service does not answer. Loads all shown data again as soon as the service answers. */
export function Connection() {
  const { failureReason } = useQuery(overviewQuery)
  const isLost = isUnreachable(failureReason)
  const wasLost = useRef(false)

  useEffect(() => {
    if (wasLost.current && !isLost) void queryClient.invalidateQueries()
    wasLost.current = isLost
  }, [isLost])

  return (
    <p role="status" className="connection lost">
      {isLost && 'The service does not answer; trying again…'}
    </p>
  )
}
