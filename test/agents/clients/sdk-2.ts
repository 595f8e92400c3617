import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

import type { Connect } from './client.ts'
import { createProvider } from './provider.ts'

export const connect: Connect = async (endpoint) => {
  const provider = createProvider(endpoint)
  const createTransport = () =>
    new StreamableHTTPClientTransport(new URL(endpoint.url), { authProvider: provider })
  const client = () => new Client({ name: 'agent', version: '1.0.0' })
  const first = createTransport()
  await client()
    .connect(first)
    .catch(() => undefined)
  await first.finishAuth(provider.redirect)
  const connected = client()
  await connected.connect(createTransport())
  return {
    list: async () => (await connected.listTools()).tools.map(({ name }) => name),
    call: (name, input) => connected.callTool({ name, arguments: input }),
    close: () => connected.close(),
  }
}
