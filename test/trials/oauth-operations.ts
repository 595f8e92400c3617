import { ORPCError } from '@orpc/client'
import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'

import { type ActorOperation, checkRows, taskRow } from './actor-operations.ts'
import { type Actor, attempt, retryUntilAnswered } from './actors.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'

const ToolResponse = z.object({
  result: z.object({
    content: z.array(z.object({ text: z.string() })),
    structuredContent: z.unknown().optional(),
    isError: z.boolean().optional(),
  }),
})
const Failure = z.object({ code: z.string(), message: z.string() })

/** An OAuth client that calls MCP tools. */
interface Agent {
  post: (path: string, body: object, headers: Record<string, string>) => Promise<{ body: unknown }>
  app: { tokens?: { access_token: string } | undefined }
}

/** Calls an MCP tool with the access token of the actor's OAuth client. */
export async function callTool({ post, app: { tokens } }: Agent, name: string, input: object) {
  const headers = {
    authorization: `Bearer ${tokens?.access_token ?? ''}`,
    accept: 'application/json, text/event-stream',
  }
  const params = { name, arguments: input }
  const { body } = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
  const { content, structuredContent, isError } = ToolResponse.parse(body).result
  if (!isError) return structuredContent
  const { code, message } = Failure.parse(JSON.parse(content[0]?.text ?? ''))
  throw new ORPCError(code, { message })
}

interface Consent {
  clientId: string
  verifier: string
}

/** Submits the consent page, as a browser without JavaScript does. Returns the parameters of the redirect. */
async function grantConsent({ post }: Actor, origin: string, { clientId, verifier }: Consent) {
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

const postForm = async <Body>({ post }: Actor, path: string, fields: Record<string, string>) =>
  (await post(path, new URLSearchParams(fields))).body as Body

interface Tokens {
  access_token: string
  refresh_token: string
}

/**
 * Registers a client, grants consent and redeems the code. Does nothing if the actor has tokens. Skips the registration
 * if an earlier turn has registered the client.
 */
const getTokens: ActorOperation = async (actor, { origin, recording }) => {
  const { app, marker } = actor
  if (app.tokens) return
  const registration = { client_name: `${marker} app`, redirect_uris: [REDIRECT] }
  const register = async () => (await actor.post('/register', registration)).body as { client_id: string }
  app.clientId ??= (await attempt(actor, 'app.register', register)).value?.client_id
  if (app.clientId === undefined) return
  const authorization = { clientId: app.clientId, verifier: randomBytes(32).toString('base64url') }
  const { value } = await attempt(actor, 'app.consent', () => grantConsent(actor, origin, authorization))
  if (!value) return
  // If there is no response, the service may have redeemed the code. The next turn therefore requests a new code.
  const redeemed = await attempt(actor, 'app.redeem', () =>
    postForm<Tokens>(actor, '/token', {
      grant_type: 'authorization_code',
      client_id: authorization.clientId,
      code: value.code ?? '',
      redirect_uri: REDIRECT,
      code_verifier: authorization.verifier,
    }),
  )
  app.tokens = redeemed.value
  if (app.tokens) recording.owners.set(app.tokens.refresh_token, marker)
}

/** Operations of the actors' OAuth clients, including calls of MCP tools. */
export const oauthOperations: Record<string, ActorOperation> = {
  'authorize client': getTokens,
  'refresh tokens': async (actor) => {
    const { tokens, clientId = '' } = actor.app
    if (!tokens) return
    // Removes the tokens before the request: without a response, it is unknown whether the refresh token was used, and
    // a second use would revoke the grant.
    actor.app.tokens = undefined
    const fields = {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: tokens.refresh_token,
    }
    actor.app.tokens = (
      await attempt(actor, 'app.refresh', () => postForm<Tokens>(actor, '/token', fields))
    ).value
  },
  'revoke tokens': async (actor, _, turn) => {
    const { tokens, clientId = '' } = actor.app
    // Revokes the grant only every fourth turn, so that other operations can use the tokens.
    if (!tokens || turn % 4 > 0) return
    const fields = { token: tokens.refresh_token, client_id: clientId }
    await retryUntilAnswered(actor, 'app.revoke', () => postForm(actor, '/revoke', fields))
    const { code } = await attempt(actor, 'agent.tasks.list', () => callTool(actor, 'tasks_list', {}), [
      'UNAUTHORIZED',
    ])
    if (code === 'OK') actor.checked.addFault('a revoked token was accepted')
    actor.app.tokens = undefined
  },
  'create task as agent': async (actor) => {
    if (!actor.app.tokens) return
    const title = actor.uniqueTitle('task')
    const row = actor.tasks.add(title, '')
    const input = { taskTitle: title }
    const { value } = await attempt(actor, 'agent.tasks.create', () => callTool(actor, 'tasks_create', input))
    if (value) Object.assign(row, { id: (value as { id: number }).id, mayBeAbsent: false })
  },
  'list tasks as agent': async (actor) => {
    if (!actor.app.tokens) return
    const { value } = await attempt(actor, 'agent.tasks.list', () => callTool(actor, 'tasks_list', {}))
    const list = value as { tasks: Parameters<typeof taskRow>[0][] } | undefined
    checkRows(actor, actor.tasks, 'agent.tasks.list', list?.tasks.map(taskRow))
  },
}
