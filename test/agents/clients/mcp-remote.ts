import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type Connect, followRedirect } from './client.ts'

const program = join(import.meta.dirname, '../node_modules/mcp-remote/dist/proxy.js')

/** Runs mcp-remote, which connects agents that only start programs. The person opens the URL that mcp-remote prints. */
export const connect: Connect = async ({ url, consent }) => {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-mcp-remote-'))
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, url, '--allow-http'],
    // Without a browser on the path, mcp-remote only prints the URL.
    env: { MCP_REMOTE_CONFIG_DIR: folder, HOME: folder, PATH: '' },
    stderr: 'pipe',
  })
  let printed = ''
  let isOpened = false
  transport.stderr?.on('data', (chunk) => {
    printed += String(chunk)
    const [address] = /^http\S+\/authorize\?\S+(?=\s)/m.exec(printed) ?? []
    if (address === undefined || isOpened) return
    isOpened = true
    void consent(address).then(followRedirect)
  })
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(printed, { cause: error })
  })
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, input) => client.callTool({ name, arguments: input }),
    close: async () => {
      await client.close()
      await rm(folder, { recursive: true })
    },
  }
}
