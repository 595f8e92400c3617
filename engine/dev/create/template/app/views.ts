import { accountViews } from 'tallystick-dev/page'

import { home } from './views/home.tsx'
import { ideas } from './views/ideas.tsx'

/** The views in the order of the navigation. */
export const views = [
  home,
  ideas,
  // The views of every application: devices and apps, the account, and people for administrators.
  ...accountViews,
]
