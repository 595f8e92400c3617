import { Api, type HttpResponse } from '../.output/swagger-typescript-api/client.ts'
import type { Outcome, SecondFormCalls } from '../operations.ts'

const outcome = async <Data>(
  call: Promise<HttpResponse<Data, void | { code: string }>>,
): Promise<Outcome<Data>> => {
  const { status, ok, data, error } = await call
  return ok ? { status, data } : { status, error: error ?? undefined }
}

export function connect(baseUrl: string, cookie: string): SecondFormCalls {
  const { api } = new Api({ baseUrl, baseApiParams: { headers: { cookie } } })
  const note = { title: 'Plan', body: 'Milk and bread' }

  return {
    status_get: () => outcome(api.statusGet()),
    account_get: () => outcome(api.accountGet()),
    account_export: () => outcome(api.accountExport()),
    account_delete: ({ email }) => outcome(api.accountDelete({ email })),
    counter_get: () => outcome(api.counterGet()),
    counter_increment: () => outcome(api.counterIncrement()),
    counter_decrement: () => outcome(api.counterDecrement()),
    counter_set: ({ inputValue }) => outcome(api.counterSet({ inputValue })),
    counter_fragment: () => outcome(api.counterFragment()),
    counter_reset: () => outcome(api.counterReset()),
    tasks_list: () => outcome(api.tasksList({ status: 'pending', limit: 10 })),
    tasks_create: () => outcome(api.tasksCreate({ taskTitle: 'Write' })),
    tasks_get: ({ taskId }) => outcome(api.tasksGet(taskId)),
    tasks_update: ({ taskId }) => outcome(api.tasksUpdate(taskId, { status: 'completed' })),
    tasks_delete: ({ taskId }) => outcome(api.tasksDelete(taskId)),
    tasks_reset: () => outcome(api.tasksReset()),
    notes_list: () => outcome(api.notesList({ limit: 10 })),
    notes_create: () => outcome(api.notesCreate(note)),
    notes_update: ({ noteId }) => outcome(api.notesUpdate(noteId, note)),
    notes_share: ({ noteId }) =>
      outcome(api.notesShare(noteId, { email: 'bob@example.com', role: 'reader' })),
    notes_shares: ({ noteId }) => outcome(api.notesShares(noteId, { limit: 10 })),
    notes_unshare: ({ noteId }) => outcome(api.notesUnshare(noteId, { email: 'bob@example.com' })),
    notes_leave: ({ sharedId }) => outcome(api.notesLeave(sharedId)),
    notes_delete: ({ noteId }) => outcome(api.notesDelete(noteId)),
    legacyNotes_delete: ({ noteNumber }) => outcome(api.legacyNotesDelete(noteNumber)),
    legacyNotes_reset: () => outcome(api.legacyNotesReset()),
    sessions_list: () => outcome(api.sessionsList()),
    sessions_revoke: ({ token }) => outcome(api.sessionsRevoke({ revokeSessionToken: token })),
    sessions_revokeOthers: () => outcome(api.sessionsRevokeOthers()),
    apps_list: () => outcome(api.appsList()),
    apps_revoke: ({ grantId: id }) => outcome(api.appsRevoke({ id })),
    tokens_create: () => outcome(api.tokensCreate({ label: 'Script', scopes: ['read'] })),
    audit_list: () => outcome(api.auditList({ limit: 10 })),
    reservations_create: async ({ guests }) => {
      const response = await api.reservationsCreate({ name: 'Ada', guests })
      const { error } = response
      const violation = !response.ok && error.defined ? error.data.guests : undefined
      return { ...(await outcome(Promise.resolve(response))), violation }
    },
  }
}
