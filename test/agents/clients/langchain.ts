import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'

import type { Connect } from './client.ts'
import { createProvider } from './provider.ts'

export const connect: Connect = async (endpoint) => {
  const { url } = endpoint
  const provider = createProvider(endpoint)
  const open = () =>
    new MultiServerMCPClient({
      mcpServers: { tallystick: { url, transport: 'http', authProvider: provider } },
    })
  await open()
    .getTools()
    .catch(() => undefined)
  await auth(provider, { serverUrl: url, authorizationCode: provider.code })
  const client = open()
  const tools = await client.getTools()
  return {
    list: () => Promise.resolve(tools.map(({ name }) => name)),
    call: async (name, input) => tools.find((tool) => tool.name === name)?.invoke(input) as unknown,
    close: () => client.close(),
  }
}
