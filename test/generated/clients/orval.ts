import * as api from '../.output/orval/client.ts'
import { type Calls, FIRST_FORM, having, type Outcome } from '../operations.ts'

type Result = { status: 200; data: unknown } | { status: number; data: { code: string } | void }

const outcome = async <Given extends Result>(
  call: Promise<Given>,
): Promise<Outcome<Extract<Given, { status: 200 }>['data']>> => {
  const { status, data } = await call
  return status === 200 ? { status, data } : { status, error: data as { code: string } }
}

/** The address of the service is part of the generated code. */
export function connect(_: string, cookie: string): Calls {
  const headers = { cookie }
  const note = { title: 'Plan', body: 'Milk and bread' }

  return {
    status_get: () => outcome(api.statusGet({ headers })),
    account_get: () => outcome(api.accountGet({ headers })),
    account_export: () => outcome(api.accountExport({ headers })),
    account_delete: ({ email }) => outcome(api.accountDelete({ email }, { headers })),
    counter_get: () => outcome(api.counterGet({ headers })),
    counter_increment: () => outcome(api.counterIncrement({ headers })),
    counter_decrement: () => outcome(api.counterDecrement({ headers })),
    counter_set: ({ inputValue }) => outcome(api.counterSet({ inputValue }, { headers })),
    counter_fragment: () => having(outcome(api.counterFragment({ headers })), 'html'),
    counter_reset: () => outcome(api.counterReset({ headers })),
    tasks_list: () => outcome(api.tasksList({ status: 'pending', limit: 10 }, { headers })),
    tasks_create: () => outcome(api.tasksCreate({ taskTitle: 'Write' }, { headers })),
    tasks_get: ({ taskId }) => outcome(api.tasksGet(taskId, { headers })),
    tasks_update: ({ taskId }) => outcome(api.tasksUpdate(taskId, { status: 'completed' }, { headers })),
    tasks_delete: ({ taskId }) => outcome(api.tasksDelete(taskId, { headers })),
    tasks_reset: () => outcome(api.tasksReset({ headers })),
    notes_list: () => having(outcome(api.notesList({ limit: 10 }, { headers })), 'can'),
    // orval sets no Content-Type for a request with two media types.
    notes_create: () =>
      having(
        outcome(api.notesCreate(note, { headers: { ...headers, 'content-type': 'application/json' } })),
        'can',
      ),
    notes_update: ({ noteId }) => outcome(api.notesUpdate(noteId, note, { headers })),
    notes_share: ({ noteId }) =>
      outcome(api.notesShare(noteId, { email: 'bob@example.com', role: 'reader' }, { headers })),
    notes_shares: ({ noteId }) => outcome(api.notesShares(noteId, { limit: 10 }, { headers })),
    notes_unshare: ({ noteId }) =>
      outcome(api.notesUnshare(noteId, { email: 'bob@example.com' }, { headers })),
    notes_leave: ({ sharedId }) => outcome(api.notesLeave(sharedId, {}, { headers })),
    notes_delete: ({ noteId }) => outcome(api.notesDelete(noteId, {}, { headers })),
    legacyNotes_list: () =>
      having(
        outcome(api.notesList({ limit: 10 }, { headers: { ...headers, accept: FIRST_FORM } })),
        'noteCount',
      ),
    legacyNotes_create: () =>
      having(
        outcome(
          api.notesCreate({ newNote: 'Milk' }, { headers: { ...headers, 'content-type': FIRST_FORM } }),
        ),
        'text',
      ),
    legacyNotes_delete: ({ noteNumber }) =>
      having(outcome(api.legacyNotesDelete(noteNumber, { headers })), 'success'),
    legacyNotes_reset: () => outcome(api.legacyNotesReset({ headers })),
    sessions_list: () => outcome(api.sessionsList({}, { headers })),
    sessions_revoke: ({ token }) => outcome(api.sessionsRevoke({ revokeSessionToken: token }, { headers })),
    sessions_revokeOthers: () => outcome(api.sessionsRevokeOthers({ headers })),
    apps_list: () => outcome(api.appsList({}, { headers })),
    apps_revoke: ({ grantId: id }) => outcome(api.appsRevoke({ id }, { headers })),
    tokens_create: () => outcome(api.tokensCreate({ label: 'Script', scopes: ['read'] }, { headers })),
    audit_list: () => outcome(api.auditList({ limit: 10 }, { headers })),
    reservations_create: async ({ guests }) => {
      const result = await api.reservationsCreate({ name: 'Ada', guests }, { headers })
      // The type of an error also contains problem details, which the client does not request.
      const refusal = result.status === 400 && 'defined' in result.data ? result.data : undefined
      const violation = refusal?.defined ? refusal.data.guests : undefined
      return { ...(await outcome(Promise.resolve(result))), violation }
    },
  }
}
