import { lazy } from 'react'

import { DeviceIcon, PeopleIcon, PersonIcon } from './components/icons.tsx'
import { view } from './definition.ts'

// Loaded on demand: people open these views less often than the views of the application.
const Account = lazy(async () => ({ default: (await import('./views/account.tsx')).Account }))
const Devices = lazy(async () => ({ default: (await import('./views/devices.tsx')).Devices }))
const People = lazy(async () => ({ default: (await import('./views/people.tsx')).People }))

/** The views that every application has: devices and apps, the account, and people for administrators. */
export const accountViews = [
  view({
    path: '/devices',
    title: 'devices',
    Icon: DeviceIcon,
    access: 'signedIn',
    topics: ['sessions'],
    Content: Devices,
  }),
  view({ path: '/account', title: 'account', Icon: PersonIcon, access: 'signedIn', Content: Account }),
  view({ path: '/people', title: 'people', Icon: PeopleIcon, access: 'admin', Content: People }),
] as const
