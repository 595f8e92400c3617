import { lazy } from 'react'

import type { View } from './definition.ts'
import type { accountPaths } from './paths.ts'
import { Account } from './views/account.tsx'
import { Devices } from './views/devices.tsx'

// Loaded on demand, because few people open this view.
const People = lazy(async () => ({ default: (await import('./views/people.tsx')).People }))

/** The views that every application has, by path. */
export const accountViews: Record<(typeof accountPaths)[number], View> = {
  '/devices': { title: 'devices', access: 'signedIn', Content: Devices },
  '/account': { title: 'account', access: 'signedIn', Content: Account },
  '/people': { title: 'people', access: 'admin', Content: People },
}
