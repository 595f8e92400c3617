import { serve } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { Hono } from 'hono'
import { Pool, types } from 'pg'
import { z } from 'zod'

import { readEnvironment, reportListening } from '../environment.ts'
import { MAX_ROWS, taskList, type TaskRow } from './responses.ts'
import { FIND_SESSION, LIST_TASKS } from './sql-queries.ts'

// The example `honoWebStandardStreamableHttp` of the official MCP SDK, with one tool, `pg`, and the token of a session as
// the bearer token.

const { port, databaseUrl, status } = readEnvironment()

types.setTypeParser(types.builtins.INT8, Number)
const pool = new Pool({ connectionString: databaseUrl, max: 10 })

const Task = z.object({
  id: z.int(),
  userId: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  createdAt: z.int(),
  updatedAt: z.int(),
})

function createServer(userId: string) {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  server.registerTool(
    'tasks_list',
    {
      description: 'Lists the person’s own tasks, newest first',
      inputSchema: { limit: z.int().min(1).max(MAX_ROWS).default(MAX_ROWS) },
      outputSchema: { tasks: z.array(Task), taskCount: z.int() },
    },
    async ({ limit }) => {
      const query = { name: 'tasks', text: LIST_TASKS, values: [userId, limit] }
      const structuredContent = taskList((await pool.query<TaskRow>(query)).rows)
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
    },
  )
  return server
}

async function findUser(authorization = '') {
  const values = [authorization.replace('Bearer ', '')]
  return (await pool.query<{ id: string }>({ name: 'session', text: FIND_SESSION, values })).rows[0]
}

const app = new Hono()

app.get('/api/status', (context) => context.json(status))

app.post('/mcp', async (context) => {
  const user = await findUser(context.req.header('authorization'))
  if (!user) return context.json({ message: 'Sign in first' }, 401)
  const transport = new WebStandardStreamableHTTPServerTransport()
  await createServer(user.id).connect(transport)
  return transport.handleRequest(context.req.raw)
})

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, reportListening)
