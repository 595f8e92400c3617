import { lazy } from 'react'
import { accountViews, DocumentIcon, ListIcon, view } from 'tallystick-dev/page'

import { texts } from './language.ts'
import { Home } from './views/home.tsx'
import { Notes } from './views/notes.tsx'
import { Tasks } from './views/tasks.tsx'

// Loaded on demand, because few people open this view.
const Reservation = lazy(async () => ({ default: (await import('./views/reservation.tsx')).Reservation }))

/** The views in the order of the navigation. */
export const views = [
  view({
    path: '/',
    title: 'home',
    hidesTitle: true,
    access: 'public',
    topics: ['counter'],
    texts,
    Content: Home,
  }),
  view({
    path: '/tasks',
    title: 'tasks',
    Icon: ListIcon,
    access: 'signedIn',
    topics: ['tasks'],
    texts,
    Content: Tasks,
  }),
  view({
    path: '/notes',
    title: 'notes',
    Icon: DocumentIcon,
    access: 'signedIn',
    topics: ['notes'],
    texts,
    Content: Notes,
  }),
  ...accountViews,
  view({ path: '/reservation', title: 'reservation', access: 'public', texts, Content: Reservation }),
]
