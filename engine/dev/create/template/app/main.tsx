import 'tallystick-dev/page/styles.css'

import { queryClient, startPage } from 'tallystick-dev/page'
import { keepLive } from 'tallystick-contract/query'

import { orpc } from './api.ts'
import { views } from './views.ts'

startPage({
  name: 'Example App',
  id: 'example-app',
  views,
  keepLive: (options) => keepLive(queryClient, orpc, options),
})
