import { auth, createMCPClient } from '@ai-sdk/mcp'

import type { Connect } from './client.ts'
import { createProvider } from './provider.ts'

export const connect: Connect = async (endpoint) => {
  const { url } = endpoint
  const provider = createProvider(endpoint)
  const open = () => createMCPClient({ transport: { type: 'http', url, authProvider: provider } })
  await open().catch(() => undefined)
  await auth(provider, { serverUrl: url, authorizationCode: provider.code })
  const client = await open()
  const tools = await client.tools()
  return {
    list: () => Promise.resolve(Object.keys(tools)),
    call: async (name, input) => tools[name]?.execute(input, { toolCallId: '1', messages: [], context: {} }),
    close: () => client.close(),
  }
}
