import { createClient } from '../.output/hey-api/client/index.ts'
import * as sdk from '../.output/hey-api/index.ts'
import type { Outcome, SecondFormCalls } from '../operations.ts'

interface Result<Data> {
  data?: Data
  error?: { code: string } | undefined
  response?: Response
}

const outcome = async <Data>(call: Promise<Result<Data>>): Promise<Outcome<Data>> => {
  const { data, error, response } = await call
  return { status: response?.status ?? 0, data, error }
}

export function connect(baseUrl: string, cookie: string): SecondFormCalls {
  const client = createClient({ baseUrl, headers: { cookie } })
  const note = { title: 'Plan', body: 'Milk and bread' }

  return {
    status_get: () => outcome(sdk.statusGet({ client })),
    account_get: () => outcome(sdk.accountGet({ client })),
    account_export: () => outcome(sdk.accountExport({ client })),
    account_delete: ({ email }) => outcome(sdk.accountDelete({ client, body: { email } })),
    counter_get: () => outcome(sdk.counterGet({ client })),
    counter_increment: () => outcome(sdk.counterIncrement({ client })),
    counter_decrement: () => outcome(sdk.counterDecrement({ client })),
    counter_set: ({ inputValue }) => outcome(sdk.counterSet({ client, body: { inputValue } })),
    counter_fragment: () => outcome(sdk.counterFragment({ client })),
    counter_reset: () => outcome(sdk.counterReset({ client })),
    tasks_list: () => outcome(sdk.tasksList({ client, query: { status: 'pending', limit: 10 } })),
    tasks_create: () => outcome(sdk.tasksCreate({ client, body: { taskTitle: 'Write' } })),
    tasks_get: ({ taskId: id }) => outcome(sdk.tasksGet({ client, path: { id } })),
    tasks_update: ({ taskId: id }) =>
      outcome(sdk.tasksUpdate({ client, path: { id }, body: { status: 'completed' } })),
    tasks_delete: ({ taskId: id }) => outcome(sdk.tasksDelete({ client, path: { id } })),
    tasks_reset: () => outcome(sdk.tasksReset({ client })),
    notes_list: () => outcome(sdk.notesList({ client, query: { limit: 10 } })),
    notes_create: () => outcome(sdk.notesCreate({ client, body: note })),
    notes_update: ({ noteId: id }) => outcome(sdk.notesUpdate({ client, path: { id }, body: note })),
    notes_share: ({ noteId: id }) =>
      outcome(sdk.notesShare({ client, path: { id }, body: { email: 'bob@example.com', role: 'reader' } })),
    notes_shares: ({ noteId: id }) =>
      outcome(sdk.notesShares({ client, path: { id }, query: { limit: 10 } })),
    notes_unshare: ({ noteId: id }) =>
      outcome(sdk.notesUnshare({ client, path: { id }, body: { email: 'bob@example.com' } })),
    notes_leave: ({ sharedId: id }) => outcome(sdk.notesLeave({ client, path: { id } })),
    notes_delete: ({ noteId: id }) => outcome(sdk.notesDelete({ client, path: { id } })),
    legacyNotes_delete: ({ noteNumber: id }) => outcome(sdk.legacyNotesDelete({ client, path: { id } })),
    legacyNotes_reset: () => outcome(sdk.legacyNotesReset({ client })),
    sessions_list: () => outcome(sdk.sessionsList({ client })),
    sessions_revoke: ({ token }) =>
      outcome(sdk.sessionsRevoke({ client, body: { revokeSessionToken: token } })),
    sessions_revokeOthers: () => outcome(sdk.sessionsRevokeOthers({ client })),
    apps_list: () => outcome(sdk.appsList({ client })),
    apps_revoke: ({ grantId: id }) => outcome(sdk.appsRevoke({ client, body: { id } })),
    tokens_create: () => outcome(sdk.tokensCreate({ client, body: { label: 'Script', scopes: ['read'] } })),
    audit_list: () => outcome(sdk.auditList({ client, query: { limit: 10 } })),
    reservations_create: async ({ guests }) => {
      const call = sdk.reservationsCreate({ client, body: { name: 'Ada', guests } })
      const { error } = await call
      return { ...(await outcome(call)), violation: error?.defined ? error.data.guests : undefined }
    },
  }
}
