import { MCPClient } from '@mastra/mcp'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'

import type { Connect } from './client.ts'
import { createProvider } from './provider.ts'

export const connect: Connect = async (endpoint) => {
  const { url } = endpoint
  const provider = createProvider(endpoint)
  const open = (id: string) =>
    new MCPClient({ id, servers: { tallystick: { url: new URL(url), authProvider: provider } } })
  await open('first')
    .listTools()
    .catch(() => undefined)
  await auth(provider, { serverUrl: url, authorizationCode: provider.code })
  const client = open('second')
  const { tallystick = {} } = await client.listToolsets()
  return {
    list: () => Promise.resolve(Object.keys(tallystick)),
    call: async (name, input) => tallystick[name]?.execute?.(input, {} as never) as unknown,
    close: () => client.disconnect(),
  }
}
