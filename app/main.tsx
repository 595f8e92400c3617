import 'tallystick-dev/page/styles.css'
import './styles.css'

import { queryClient, startPage } from 'tallystick-dev/page'

import { keepLive } from '../contract/query/index.ts'
import { orpc } from './api.ts'
import { texts } from './language.ts'
import { views } from './views.ts'

// Requested now, because the first view shows the counter. The view shows the error of this request.
queryClient.query(orpc.counter.get.queryOptions()).catch(() => undefined)

startPage({
  name: 'Tallystick',
  views,
  texts,
  keepLive: (options) => keepLive(queryClient, orpc, options),
})
