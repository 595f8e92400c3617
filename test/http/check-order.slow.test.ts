import { describe, expect, test } from 'vitest'

import { createFetch, errorBody } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })

const unauthorized = errorBody(401, 'UNAUTHORIZED', 'Sign in first', true)
const noteNotFound = errorBody(404, 'NOT_FOUND', 'There is no such note', true)
const taskNotFound = errorBody(404, 'NOT_FOUND', 'Task not found', true)
const forbidden = errorBody(403, 'FORBIDDEN', 'You may not do this to the note', true)

describe('the order of checks', () => {
  const bad = ['{bad', '[]', '{"title":1,"body":1,"email":1,"role":1}', '{"title":"\\u0000"}']
  const paths = { update: '', share: '/share', delete: '/delete' }

  /**
   * Creates a note. Returns its id, and the cookies of its author, of a reader, and of a user without access to the
   * note.
   */
  async function createSharedNote() {
    const [ada, readerEmail] = [await signIn(), newEmail()]
    const { body } = await call('POST', '/api/notes', { title: 'One', body: '' }, ada)
    const { id } = body as { id: string }
    await call('POST', `/api/notes/${id}/share`, { email: readerEmail, role: 'reader' }, ada)
    return { ada, reader: await signIn(readerEmail), other: await signIn(), id }
  }

  describe.each(Object.entries(paths))('of notes.%s', (name, suffix) => {
    test.each(bad)('is 401, 404, 403, 400 with the body %s', async (body) => {
      const { ada, reader, other, id } = await createSharedNote()
      const post = async (id: string, headers?: Record<string, string>) =>
        (await call('POST', `/api/notes/${id}${suffix}`, body, headers)).body

      expect(await post(id)).toEqual(unauthorized)
      expect(await post('absent')).toEqual(unauthorized)
      expect(await post(crypto.randomUUID(), ada)).toEqual(noteNotFound)
      expect(await post(id, reader)).toEqual(forbidden)
      expect(await post(id, other)).toEqual(forbidden)
      // `notes.delete` accepts every JSON object as its body. Only `{bad` and `[]` are not JSON objects.
      if (name !== 'delete' || body === '{bad' || body === '[]')
        expect(await post(id, ada)).toMatchObject({ status: 400, code: 'BAD_REQUEST' })
    })
  })

  test.each(bad)('of tasks.update is 401, 404, 400 with the body %s', async (body) => {
    const [ada, bob] = [await signIn(), await signIn()]
    const { body: task } = await call('POST', '/api/tasks', { taskTitle: 'One' }, ada)
    const path = `/api/tasks/${(task as { id: number }).id}`

    expect((await call('PATCH', path, body)).body).toEqual(unauthorized)
    expect((await call('PATCH', '/api/tasks/abc', body)).body).toEqual(unauthorized)
    expect((await call('PATCH', '/api/tasks/987654321', body, ada)).body).toEqual(taskNotFound)
    expect((await call('PATCH', path, body, bob)).body).toEqual(taskNotFound)
    expect(await call('PATCH', path, body, ada)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test.each([
    ['POST', '/api/tasks'],
    ['POST', '/api/tasks/reset'],
    ['DELETE', '/api/tasks/abc'],
    ['POST', '/api/notes'],
    ['POST', '/api/notes/reset'],
    ['DELETE', '/api/notes/abc'],
    ['POST', '/api/sessions/revoke'],
  ])('begins with 401 at %s %s', async (method, path) => {
    for (const body of ['{bad', '[]', '{}'])
      expect((await call(method, path, body)).body).toEqual(unauthorized)
  })

  test.each(['/api/tasks/abc', '/api/tasks?status=nope', '/api/me', '/api/sessions', '/api/notes'])(
    'begins with 401 at GET %s',
    async (path) => {
      expect((await call('GET', path)).body).toEqual(unauthorized)
    },
  )
})

describe('RPC', () => {
  test.each<unknown>([
    { toString: null },
    { toString: 1, valueOf: 1 },
    { deep: [[[]]] },
    5,
    null,
    '['.repeat(1000),
  ])('treats %j as the id of an absent note', async (id) => {
    const answer = await call(
      'POST',
      '/rpc/notes/update',
      { json: { id, title: 'x', body: '' } },
      await signIn(),
    )

    expect(answer.status).toBe(404)
  })
})
