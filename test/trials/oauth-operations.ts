import { ORPCError } from '@orpc/client'
import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'

import { attempt, insist, type Person } from './actors.ts'
import { check, taskRow, type Work } from './actor-operations.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'

const Called = z.object({
  result: z.object({
    content: z.array(z.object({ text: z.string() })),
    structuredContent: z.unknown().optional(),
    isError: z.boolean().optional(),
  }),
})
const Failure = z.object({ code: z.string(), message: z.string() })

/** Calls a tool of the service with the token of the person’s app. */
async function useTool({ post, app: { tokens } }: Person, name: string, input: object) {
  const headers = {
    authorization: `Bearer ${tokens?.access_token ?? ''}`,
    accept: 'application/json, text/event-stream',
  }
  const params = { name, arguments: input }
  const { body } = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
  const { content, structuredContent, isError } = Called.parse(body).result
  if (!isError) return structuredContent
  const { code, message } = Failure.parse(JSON.parse(content[0]?.text ?? ''))
  throw new ORPCError(code, { message })
}

interface Consent {
  clientId: string
  verifier: string
}

/** Lets the app in, as a browser without scripts does. Returns where the browser is sent. */
async function consent({ post }: Person, origin: string, { clientId, verifier }: Consent) {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'read write',
    resource: `${origin}/mcp`,
    state: verifier.slice(0, 8),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const { headers } = await post(`/authorize?${query.toString()}`, new URLSearchParams({ action: 'allow' }))
  return Object.fromEntries(new URL(headers.get('location') ?? '').searchParams)
}

const ask = async <Answer>({ post }: Person, path: string, fields: Record<string, string>) =>
  (await post(path, new URLSearchParams(fields))).body as Answer

interface Tokens {
  access_token: string
  refresh_token: string
}

/** Registers an app, lets it in and gets its first tokens: what remains of that. */
const getTokens: Work = async (person, { origin, book }) => {
  const { app, mark } = person
  if (app.tokens) return
  const registration = { client_name: `${mark} app`, redirect_uris: [REDIRECT] }
  const register = async () => (await person.post('/register', registration)).body as { client_id: string }
  app.clientId ??= (await attempt(person, 'app.register', register)).value?.client_id
  if (app.clientId === undefined) return
  const asked = { clientId: app.clientId, verifier: randomBytes(32).toString('base64url') }
  const { value } = await attempt(person, 'app.consent', () => consent(person, origin, asked))
  if (!value) return
  // A code without an answer may have been used: the next turn asks for another one.
  const redeemed = await attempt(person, 'app.redeem', () =>
    ask<Tokens>(person, '/token', {
      grant_type: 'authorization_code',
      client_id: asked.clientId,
      code: value.code ?? '',
      redirect_uri: REDIRECT,
      code_verifier: asked.verifier,
    }),
  )
  app.tokens = redeemed.value
  if (app.tokens) book.owners.set(app.tokens.refresh_token, mark)
}

/** What every app does. */
export const apps: Record<string, Work> = {
  'let app in': getTokens,
  'refresh tokens': async (person) => {
    const { tokens, clientId = '' } = person.app
    if (!tokens) return
    // A refresh token without an answer may have been used, and must not be sent again.
    person.app.tokens = undefined
    const fields = {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: tokens.refresh_token,
    }
    person.app.tokens = (
      await attempt(person, 'app.refresh', () => ask<Tokens>(person, '/token', fields))
    ).value
  },
  'revoke tokens': async (person, _, turn) => {
    const { tokens, clientId = '' } = person.app
    // Apps are kept for a while.
    if (!tokens || turn % 4 > 0) return
    const fields = { token: tokens.refresh_token, client_id: clientId }
    await insist(person, 'app.revoke', () => ask(person, '/revoke', fields))
    const { code } = await attempt(person, 'agent.tasks.list', () => useTool(person, 'tasks_list', {}), [
      'UNAUTHORIZED',
    ])
    if (code === 'OK') person.witness.fault('a revoked token was accepted')
    person.app.tokens = undefined
  },
  'create task as agent': async (person) => {
    if (!person.app.tokens) return
    const title = person.title('task')
    const thing = person.tasks.add(title, '')
    const input = { taskTitle: title }
    const { value } = await attempt(person, 'agent.tasks.create', () =>
      useTool(person, 'tasks_create', input),
    )
    if (value) Object.assign(thing, { id: (value as { id: number }).id, mayLack: false })
  },
  'list tasks as agent': async (person) => {
    if (!person.app.tokens) return
    const { value } = await attempt(person, 'agent.tasks.list', () => useTool(person, 'tasks_list', {}))
    const list = value as { tasks: Parameters<typeof taskRow>[0][] } | undefined
    check(person, person.tasks, 'agent.tasks.list', list?.tasks.map(taskRow))
  },
}
