/** The events of a changed address: the browser's own, and those that wouter adds. */
const events = ['popstate', 'pushState', 'replaceState'] as const

let last: (typeof events)[number] | undefined

for (const event of events)
  addEventListener(event, () => {
    last = event
  })

/** Returns how the person came to the current address. */
export const lastNavigation = () => last
