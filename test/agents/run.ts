import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { createApp } from '../../engine/http/server/app.ts'
import { createTallystick } from '../../src/testing.ts'
import { toolNames } from '../fixtures/mcp-tools.ts'
import { allowAt } from '../../engine/test/fixtures/oauth-app.ts'
import type { Connect } from './clients/client.ts'

// Connects MCP clients of npm that know only the address of the service: each client registers itself, is authorized by
// a new person, lists the tools and calls one. Exits with 1 if a client fails.

/** The packages of the clients. Each key is the name of a file in `clients/`. */
const clients = {
  'sdk-1': '@modelcontextprotocol/sdk',
  'sdk-2': '@modelcontextprotocol/client',
  'mcp-remote': 'mcp-remote',
  'ai-sdk': '@ai-sdk/mcp',
  langchain: '@langchain/mcp-adapters',
  'openai-agents': '@openai/agents',
  mastra: '@mastra/mcp',
  mcporter: 'mcporter',
}
/** Time limit of one client, in milliseconds. */
const TIMEOUT = 60_000

const port = await freePort()
const origin = `http://127.0.0.1:${port}`
const tallystick = await createTallystick({ PORT: String(port), BASE_URL: origin })
createApp(tallystick.services).listen(port, '127.0.0.1')
const { dependencies } = JSON.parse(await readFile('test/agents/package.json', 'utf8')) as {
  dependencies: Record<string, string>
}
const only = process.argv.slice(2)

for (const [file, name] of Object.entries(clients)) {
  if (only.length > 0 && !only.includes(file)) continue
  const label = `${name} ${dependencies[name] ?? ''}`
  try {
    await Promise.race([
      check(file),
      sleep(TIMEOUT, undefined, { ref: false }).then(() => Promise.reject(new Error('took too long'))),
    ])
    console.log(`✓ ${label}`)
  } catch (error) {
    process.exitCode = 1
    console.error(`✗ ${label}`, error)
  }
}
// Some clients keep connections or timers.
process.exit()

async function check(file: string) {
  const { connect } = (await import(`./clients/${file}.ts`)) as { connect: Connect }
  const email = `${file}@example.com`
  const cookie = await tallystick.signIn(email)
  const connection = await connect({ url: `${origin}/mcp`, consent: (address) => allowAt(address, cookie) })
  assert.deepEqual((await connection.list()).toSorted(), toolNames.toSorted())
  const title = `Task of ${file}`
  const result = JSON.stringify(await connection.call('tasks_create', { taskTitle: title }))
  assert.ok(result.includes(title), result)
  const { tasks } = await tallystick.client({ cookie }).tasks.list({})
  assert.deepEqual(
    tasks.map((task) => task.title),
    [title],
  )
  await connection.close()
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}
