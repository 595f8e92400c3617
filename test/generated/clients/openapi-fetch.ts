import createClient from 'openapi-fetch'

import type { paths } from '../.output/openapi-fetch/schema.ts'
import { type Calls, FIRST_FORM, having, type Outcome } from '../operations.ts'

interface Result<Data> {
  data?: Data
  error?: { code: string }
  response: Response
}

const outcome = async <Data>(call: Promise<Result<Data>>): Promise<Outcome<Data>> => {
  const { data, error, response } = await call
  return { status: response.status, data, error }
}

export function connect(baseUrl: string, cookie: string): Calls {
  const client = createClient<paths, 'application/json'>({ baseUrl, headers: { cookie } })
  const first = createClient<paths>({ baseUrl, headers: { cookie, accept: FIRST_FORM } })
  const note = { title: 'Plan', body: 'Milk and bread' }

  return {
    status_get: () => outcome(client.GET('/api/status')),
    account_get: () => outcome(client.GET('/api/me')),
    account_export: () => outcome(client.GET('/api/me/export')),
    account_delete: ({ email }) => outcome(client.POST('/api/me/delete', { body: { email } })),
    counter_get: () => outcome(client.GET('/api/counter')),
    counter_increment: () => outcome(client.POST('/api/counter/increment')),
    counter_decrement: () => outcome(client.POST('/api/counter/decrement')),
    counter_set: ({ inputValue }) => outcome(client.POST('/api/counter/set', { body: { inputValue } })),
    counter_fragment: () => outcome(client.GET('/api/counter/fragment')),
    counter_reset: () => outcome(client.POST('/api/counter/reset')),
    tasks_list: () =>
      outcome(client.GET('/api/tasks', { params: { query: { status: 'pending', limit: 10 } } })),
    tasks_create: () => outcome(client.POST('/api/tasks', { body: { taskTitle: 'Write' } })),
    tasks_get: ({ taskId: id }) => outcome(client.GET('/api/tasks/{id}', { params: { path: { id } } })),
    tasks_update: ({ taskId: id }) =>
      outcome(client.PATCH('/api/tasks/{id}', { params: { path: { id } }, body: { status: 'completed' } })),
    tasks_delete: ({ taskId: id }) => outcome(client.DELETE('/api/tasks/{id}', { params: { path: { id } } })),
    tasks_reset: () => outcome(client.POST('/api/tasks/reset')),
    notes_list: () => outcome(client.GET('/api/notes', { params: { query: { limit: 10 } } })),
    notes_create: () => outcome(client.POST('/api/notes', { body: note })),
    notes_update: ({ noteId: id }) =>
      outcome(client.POST('/api/notes/{id}', { params: { path: { id } }, body: note })),
    notes_share: ({ noteId: id }) =>
      outcome(
        client.POST('/api/notes/{id}/share', {
          params: { path: { id } },
          body: { email: 'bob@example.com', role: 'reader' },
        }),
      ),
    notes_shares: ({ noteId: id }) =>
      outcome(client.GET('/api/notes/{id}/shares', { params: { path: { id }, query: { limit: 10 } } })),
    notes_unshare: ({ noteId: id }) =>
      outcome(
        client.POST('/api/notes/{id}/unshare', {
          params: { path: { id } },
          body: { email: 'bob@example.com' },
        }),
      ),
    notes_leave: ({ sharedId: id }) =>
      outcome(client.POST('/api/notes/{id}/leave', { params: { path: { id } } })),
    notes_delete: ({ noteId: id }) =>
      outcome(client.POST('/api/notes/{id}/delete', { params: { path: { id } } })),
    legacyNotes_list: () =>
      having(outcome(first.GET('/api/notes', { params: { query: { limit: 10 } } })), 'noteCount'),
    legacyNotes_create: () =>
      having(
        outcome(
          first.POST('/api/notes', { body: { newNote: 'Milk' }, headers: { 'content-type': FIRST_FORM } }),
        ),
        'text',
      ),
    legacyNotes_delete: ({ noteNumber: id }) =>
      outcome(client.DELETE('/api/notes/{id}', { params: { path: { id } } })),
    legacyNotes_reset: () => outcome(client.POST('/api/notes/reset')),
    sessions_list: () => outcome(client.GET('/api/sessions')),
    sessions_revoke: ({ token }) =>
      outcome(client.POST('/api/sessions/revoke', { body: { revokeSessionToken: token } })),
    sessions_revokeOthers: () => outcome(client.POST('/api/sessions/revoke-others')),
    apps_list: () => outcome(client.GET('/api/apps')),
    apps_revoke: ({ grantId: id }) => outcome(client.POST('/api/apps/revoke', { body: { id } })),
    tokens_create: () =>
      outcome(
        client.POST('/api/tokens', {
          body: { label: 'Script', scopes: ['read'], audience: 'service', days: 7 },
        }),
      ),
    audit_list: () => outcome(client.GET('/api/audit', { params: { query: { limit: 10 } } })),
    reservations_create: async ({ guests }) => {
      const call = client.POST('/api/reservations', { body: { name: 'Ada', guests } })
      const { error } = await call
      return { ...(await outcome(call)), violation: error?.defined ? error.data.guests : undefined }
    },
  }
}
