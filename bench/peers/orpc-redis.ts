import { EventPublisher, os } from '@orpc/server'
import { RPCHandler } from '@orpc/server/node'
import { Redis } from 'ioredis'
import { createServer } from 'node:http'

import { reportListening } from '../environment.ts'

// Live updates as the documentation of oRPC describes them: an event iterator for each stream, and Redis between the
// processes. The state comes in the message, so that this server does not read a database.

interface Count {
  count: number
}

const { PORT, REDIS_URL = '' } = process.env

const publisher = new EventPublisher<{ counter: Count }>()
let state: Count = { count: 0 }
const redis = new Redis(REDIS_URL)
redis.on('message', (_channel, message) => {
  state = JSON.parse(message) as Count
  publisher.publish('counter', state)
})
await redis.subscribe('counter')

const watch = os.handler(async function* ({ signal }) {
  const changes = publisher.subscribe('counter', { signal })
  yield { topic: 'counter', state }
  for await (const change of changes) yield { topic: 'counter', state: change }
})
const handler = new RPCHandler({ live: { watch } })

createServer((request, response) => {
  void handler.handle(request, response, { prefix: '/rpc' }).then(({ matched }) => {
    if (!matched) response.end()
  })
}).listen(Number(PORT), '127.0.0.1', reportListening)
