import { lazy } from 'react'
import { accountViews, type View } from 'tallystick-dev/page'

import type { Message } from './language.ts'
import type { Path } from './paths.ts'
import { Home } from './views/home.tsx'
import { Notes } from './views/notes.tsx'
import { Tasks } from './views/tasks.tsx'

// Loaded on demand, because few people open this view.
const Reservation = lazy(async () => ({ default: (await import('./views/reservation.tsx')).Reservation }))

/** The views by path, in the order of the navigation. */
export const views: Record<Path, View<Message>> = {
  '/': { title: 'home', access: 'public', Content: Home },
  '/tasks': { title: 'tasks', access: 'signedIn', Content: Tasks },
  '/notes': { title: 'notes', access: 'signedIn', Content: Notes },
  ...accountViews,
  '/reservation': { title: 'reservation', access: 'public', Content: Reservation },
}
