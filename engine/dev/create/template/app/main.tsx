import 'tallystick-dev/page/styles.css'

import { accountViews, queryClient, startPage, type View } from 'tallystick-dev/page'
import { keepLive } from 'tallystick-contract/query'

import { orpc } from './api.ts'
import type { Path } from './paths.ts'
import { type Message, texts } from './texts.ts'
import { Ideas } from './views/ideas.tsx'
import { Home } from './views/home.tsx'

/** The views by path, in the order of the navigation. */
const views: Record<Path, View<Message>> = {
  '/': { title: 'home', access: 'public', Content: Home },
  '/ideas': { title: 'ideas', access: 'signedIn', Content: Ideas },
  ...accountViews,
}

startPage({
  name: 'Example App',
  id: 'example-app',
  texts,
  views,
  keepLive: ({ isSignedIn, ...options }) =>
    isSignedIn ? keepLive(queryClient, orpc, { ...options, topics: ['sessions', 'ideas'] }) : undefined,
})
