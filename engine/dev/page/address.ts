// The address of the page.

import { useCallback } from 'react'
import { useSearchParams } from 'wouter'

/**
 * A parameter of the address, so that a reload and the Back button keep its value. Undefined without a value. With `replace`, a change
 * adds no entry to the history.
 */
export function useParameter(name: string, { replace = false } = {}) {
  const [parameters, setParameters] = useSearchParams()
  const setValue = useCallback(
    (value: string | undefined) => {
      setParameters(
        () => {
          // Not the parameters of the last rendering, because two changes can follow each other.
          const next = new URLSearchParams(location.search)
          if (value) next.set(name, value)
          else next.delete(name)
          return next
        },
        { replace },
      )
    },
    [name, replace, setParameters],
  )
  return [parameters.get(name) || undefined, setValue] as const
}

/** The events of a changed address: the browser's own, and those that wouter adds. */
const events = ['popstate', 'pushState', 'replaceState'] as const

let last: (typeof events)[number] | undefined

for (const event of events)
  addEventListener(event, () => {
    last = event
  })

/** Returns how the person came to the current address. */
export const lastNavigation = () => last
