import { z } from 'zod'

const Bounds = z.object({
  $ref: z.string().optional(),
  type: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
})

/** The keywords of JSON Schema that the OpenAPI document uses for requests. */
export interface Schema extends z.infer<typeof Bounds> {
  properties?: Record<string, Schema> | undefined
  anyOf?: Schema[] | undefined
}

/** An operation over HTTP, for example of REST, RPC, OAuth or MCP. */
export interface Operation {
  method: string
  path: string
  /** Schema of the body; `undefined` without a body. */
  input?: Schema | undefined
  /** Whether the body is a form. By default, the body is JSON. */
  isForm?: boolean
}

const Schema: z.ZodType<Schema> = Bounds.extend({
  get properties() {
    return z.record(z.string(), Schema).optional()
  },
  get anyOf() {
    return z.array(Schema).optional()
  },
})
const Content = z.record(z.string(), z.object({ schema: Schema }))
const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ operationId: z.string(), requestBody: z.object({ content: Content }).optional() }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
})

const text: Schema = { type: 'string' }
const object = (properties: Record<string, Schema> = {}): Schema => ({ type: 'object', properties })

/** Lists all operations in the OpenAPI document (REST and RPC variants), and `undocumentedOperations`. */
export async function readOperations(origin: string): Promise<Operation[]> {
  const { paths, components } = Document.parse(await (await fetch(`${origin}/api/openapi.json`)).json())
  const resolve = ({ $ref, ...schema }: Schema) =>
    $ref === undefined ? schema : (components.schemas[$ref.split('/').at(-1) ?? ''] ?? schema)
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]): Operation[] => {
      const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        (schema.anyOf ?? [schema]).map(resolve),
      )
      const json = bodies[0] ?? object()
      const id = path.includes('{id}') && { id: { type: 'integer' } }
      const rpc = object({
        json: { ...json, properties: { ...json.properties, ...id } },
        meta: { type: 'array' },
      })
      const inputs = bodies.length > 0 ? bodies : [undefined]
      return [
        ...inputs.map((input) => ({ method: method.toUpperCase(), path, input })),
        { method: 'POST', path: `/rpc/${operationId.replace('_', '/')}`, input: rpc },
      ]
    }),
  )
  return [...documented, ...undocumentedOperations]
}

const auth = (path: string, properties: Record<string, Schema>): Operation => ({
  method: 'POST',
  path: `/api/auth/${path}`,
  input: object(properties),
})
const form = (path: string, names: string[]): Operation => ({
  method: 'POST',
  path,
  input: object(Object.fromEntries(names.map((name) => [name, text]))),
  isForm: true,
})
const get = (path: string): Operation => ({ method: 'GET', path })

// The list does not contain sign-out, because sign-out would end the session of a caller for the rest of the trial.
const undocumentedOperations: Operation[] = [
  auth('email-otp/send-verification-otp', { email: text, type: { enum: ['sign-in'] } }),
  auth('sign-in/email-otp', { email: text, otp: text }),
  auth('update-user', { name: text }),
  auth('admin/set-role', { userId: text, role: { enum: ['user', 'admin'] } }),
  auth('admin/ban-user', { userId: text, banReason: text, banExpiresIn: { type: 'integer' } }),
  get('/api/auth/get-session'),
  get('/api/auth/admin/list-users'),
  {
    method: 'POST',
    path: '/register',
    input: object({ client_name: text, redirect_uris: { type: 'array' } }),
  },
  form('/token', ['grant_type', 'client_id', 'redirect_uri', 'code', 'code_verifier', 'refresh_token']),
  form('/revoke', ['token', 'client_id']),
  form('/authorize', ['action', 'email', 'otp']),
  {
    method: 'POST',
    path: '/mcp',
    input: object({
      jsonrpc: { enum: ['2.0'] },
      id: { type: 'integer' },
      method: { enum: ['tools/call', 'tools/list', 'initialize', 'ping', 'resources/list', 'nothing/known'] },
      params: object({
        name: { enum: ['tasks_create', 'tasks_update', 'notes_create', 'notes_share', 'counter_get'] },
        arguments: object({ id: { type: 'integer' }, taskTitle: text, title: text, body: text, role: text }),
      }),
    }),
  },
  get('/mcp'),
  get('/authorize'),
  get('/docs'),
  get('/api/health/live'),
  get('/.well-known/oauth-authorization-server'),
]
