import { useEffect, useState } from 'react'

/** Time after which the page tells that the service is slow, in milliseconds. */
const SLOW = 2000

/** Lines in the place of content that is loading. Screen readers announce the texts. */
export function Skeleton({
  loading,
  stillTrying,
  lines = 3,
}: {
  loading: string
  /** Visible if loading takes long. */
  stillTrying: string
  lines?: number | undefined
}) {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      setSlow(true)
    }, SLOW)
    return () => {
      clearTimeout(timer)
    }
  }, [])
  return (
    <div className="skeleton">
      <p role="status">{isSlow ? stillTrying : <span className="hidden">{loading}</span>}</p>
      <div aria-busy="true">
        {Array.from({ length: lines }, (_, line) => (
          <span key={line} />
        ))}
      </div>
    </div>
  )
}
