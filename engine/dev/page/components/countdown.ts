import { useCallback, useSyncExternalStore } from 'react'

/** Time between two looks at the clock, in milliseconds. */
const STEP = 250

/** Returns the number of seconds until a time in milliseconds since the Unix epoch, which changes with the clock. 0 for a past time. */
export function useSecondsUntil(time = 0) {
  const subscribe = useCallback(
    (onTick: () => void) => {
      const timer = setInterval(() => {
        onTick()
        if (Date.now() >= time) clearInterval(timer)
      }, STEP)
      return () => {
        clearInterval(timer)
      }
    },
    [time],
  )
  return useSyncExternalStore(subscribe, () => Math.max(0, Math.ceil((time - Date.now()) / 1000)))
}
