import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { MCPServerStreamableHttp } from '@openai/agents'

import type { Connect } from './client.ts'
import { createProvider } from './provider.ts'

export const connect: Connect = async (endpoint) => {
  const { url } = endpoint
  const provider = createProvider(endpoint)
  const open = () => new MCPServerStreamableHttp({ url, name: 'tallystick', authProvider: provider })
  await open()
    .connect()
    .catch(() => undefined)
  await auth(provider, { serverUrl: url, authorizationCode: provider.code })
  const server = open()
  await server.connect()
  return {
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: (name, input) => server.callTool(name, input),
    close: () => server.close(),
  }
}
