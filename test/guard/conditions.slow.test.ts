import { createRouterClient } from '@orpc/server'
import { describe, expect, test } from 'vitest'

import { type CallContext, type Client, createClient, createRestClient, safe } from '../../contract/client.ts'
import { createContext } from '../../engine/guard/authentication.ts'
import { app } from '../../src/app.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { type Service, newEmail, startService } from '../fixtures/service.ts'

const service = await startService({ TRUSTED_ORIGINS: 'https://trusted.example' })
const call = createFetch(service)

/** A client, and a function `tag` that returns the ETag of the last response to this client. */
interface TaggedClient {
  client: Client
  tag: () => string
}

type Connect = (service: Service, headers: Record<string, string>) => TaggedClient

const overHttp =
  (connect: typeof createClient): Connect =>
  ({ origin }, headers) => {
    let tag = ''
    const listen = async (request: Request, init: object) => {
      const response = await fetch(request, init)
      tag = response.headers.get('etag') ?? ''
      return response
    }
    return { client: connect(origin, { headers, fetch: listen }), tag: () => tag }
  }

const transports: Record<string, Connect> = {
  'in process': ({ services }, headers) => {
    let context = createContext(services, {})
    const client = createRouterClient(app.router, {
      context: (given: CallContext) => (context = createContext(services, { ...headers, ...given.headers })),
    })
    return { client, tag: () => String(context.reply.get('etag') ?? '') }
  },
  'over RPC': overHttp(createClient),
  'over REST': overHttp(createRestClient),
}

const ifMatch = (tag: string) => ({ context: { headers: { 'if-match': tag } } })
const preconditionFailed = { defined: true, code: 'PRECONDITION_FAILED', status: 412 }
const absent = '00000000-0000-7000-8000-000000000000'

describe.each(Object.entries(transports))('%s', (_, connect) => {
  const person = async (email = newEmail()) => connect(service, { cookie: await service.signIn(email) })

  describe('the ETag of a task', () => {
    test('stays the same while the task is unchanged', async () => {
      const { client: ada, tag } = await person()

      const { id } = await ada.tasks.create({ taskTitle: 'Write' })
      const created = tag()
      await ada.tasks.get({ id })
      const read = tag()
      await ada.tasks.update({ id, title: 'Write', status: 'pending' })

      expect(created).toMatch(/^"[^"]+"$/)
      expect([read, tag()]).toEqual([created, created])
    })

    test.each([{ title: 'Other' }, { description: 'Other' }, { status: 'completed' as const }])(
      'changes with %o',
      async (changes) => {
        const { client: ada, tag } = await person()
        const { id } = await ada.tasks.create({ taskTitle: 'Write' })
        const before = tag()

        await ada.tasks.update({ id, ...changes })
        const changed = tag()
        await ada.tasks.get({ id })

        expect(changed).not.toBe(before)
        expect(tag()).toBe(changed)
      },
    )
  })

  describe('a task', () => {
    test('is changed only if If-Match contains its ETag', async () => {
      const { client: ada, tag } = await person()
      const task = await ada.tasks.create({ taskTitle: 'Write' })
      const stale = tag()
      const second = await ada.tasks.update({ id: task.id, title: 'Second' }, ifMatch(stale))

      await expect(ada.tasks.update({ id: task.id, title: 'Third' }, ifMatch(stale))).rejects.toMatchObject(
        preconditionFailed,
      )

      expect(await ada.tasks.get({ id: task.id })).toEqual(second)
    })

    test('is deleted only if If-Match contains its ETag', async () => {
      const { client: ada, tag } = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'Write' })
      const stale = tag()
      await ada.tasks.update({ id, title: 'Second' })
      const current = tag()

      await expect(ada.tasks.delete({ id }, ifMatch(stale))).rejects.toMatchObject(preconditionFailed)
      expect(await ada.tasks.list()).toMatchObject({ taskCount: 1 })
      await ada.tasks.delete({ id }, ifMatch(current))
      expect(await ada.tasks.list()).toMatchObject({ taskCount: 0 })
    })

    test.each([
      ['*', true],
      [' * ', true],
      ['"none", TAG', true],
      ['TAG,"none"', true],
      ['W/TAG', true],
      ['"none", W/TAG', true],
      ['w/TAG', false],
      ['W/"none"', false],
      ['"none"', false],
      ['*, "none"', false],
      ['1', false],
      ['', false],
    ])('is changed only where the condition holds: If-Match: %s', async (condition, holds) => {
      const { client: ada, tag } = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'Write' })
      const asked = ifMatch(condition.replace('TAG', tag()))

      const { isSuccess } = await safe(ada.tasks.update({ id, title: 'Changed' }, asked))

      expect(isSuccess).toBe(holds)
    })

    test('that does not exist matches no ETag', async () => {
      const [{ client: ada }, { client: bob }] = [await person(), await person()]
      const { id } = await bob.tasks.create({ taskTitle: 'His' })

      await expect(ada.tasks.update({ id }, ifMatch('*'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(ada.tasks.delete({ id }, ifMatch('*'))).rejects.toMatchObject(preconditionFailed)
      await expect(bob.tasks.get({ id })).resolves.toMatchObject({ id })
    })

    test('is changed by only one of many concurrent callers with the same ETag', async () => {
      const { client: ada, tag } = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'Write' })
      const seen = ifMatch(tag())
      const titles = Array.from({ length: 20 }, (_, index) => `Title ${index}`)

      const outcomes = await Promise.all(titles.map((title) => safe(ada.tasks.update({ id, title }, seen))))

      const won = outcomes.filter(({ isSuccess }) => isSuccess)
      expect(won).toHaveLength(1)
      expect(await ada.tasks.get({ id })).toEqual(won[0]?.data)
      for (const { error } of outcomes) if (error) expect(error).toMatchObject(preconditionFailed)
    })
  })

  describe('the ETag of a note', () => {
    test('changes with the content and the shares, and with nothing else', async () => {
      const { client: ada, tag } = await person()
      const { id } = await ada.notes.create({ title: 'Plan', body: '' })
      const tags = [tag()]
      const note = async (change: Promise<unknown>) => {
        await change
        tags.push(tag())
      }

      await note(ada.notes.update({ id, title: 'Plan', body: '' }))
      await note(ada.notes.update({ id, title: 'Plan', body: 'more' }))
      await note(ada.notes.share({ id, email: 'x@example.com', role: 'reader' }))
      await note(ada.notes.share({ id, email: 'x@example.com', role: 'reader' }))
      await note(ada.notes.share({ id, email: 'x@example.com', role: 'editor' }))

      expect(tags.map((each) => tags.indexOf(each))).toEqual([0, 0, 2, 3, 3, 5])
    })

    test('does not reveal changes of the shares to an editor', async () => {
      const email = newEmail()
      const [{ client: ada, tag: hers }, { client: bob, tag: his }] = [await person(), await person(email)]
      const { id } = await ada.notes.create({ title: 'Plan', body: '' })
      await ada.notes.share({ id, email, role: 'editor' })
      await bob.notes.update({ id, title: 'Plan', body: 'his' })
      const before = his()

      await ada.notes.share({ id, email: 'y@example.com', role: 'reader' })
      await bob.notes.update({ id, title: 'Plan', body: 'his' })

      expect(his()).toBe(before)
      expect(hers()).not.toBe(before)
    })
  })

  describe('a note', () => {
    test('is changed, shared and deleted only if If-Match contains its ETag', async () => {
      const { client: ada, tag } = await person()
      const { id } = await ada.notes.create({ title: 'Plan', body: '' })
      const stale = ifMatch(tag())
      const share = { id, email: 'x@example.com', role: 'reader' } as const
      await ada.notes.update({ id, title: 'Plan', body: 'Second' }, stale)
      const current = tag()

      const late = await Promise.all([
        safe(ada.notes.update({ id, title: 'Plan', body: 'Third' }, stale)),
        safe(ada.notes.share(share, stale)),
        safe(ada.notes.delete({ id }, stale)),
      ])
      for (const { error } of late) expect(error).toMatchObject(preconditionFailed)

      const shared = await ada.notes.share(share, ifMatch(current))
      expect(shared).toMatchObject({ body: 'Second', sharedWith: 1 })
      expect(await ada.notes.delete({ id }, ifMatch(tag()))).toEqual({ id })
    })

    test('checks the authorization before If-Match', async () => {
      const [{ client: ada }, { client: bob }] = [await person(), await person()]
      const { id } = await ada.notes.create({ title: 'Plan', body: '' })
      const input = { title: 'His', body: '' }

      await expect(bob.notes.update({ id, ...input }, ifMatch('"0"'))).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
      await expect(bob.notes.update({ id: absent, ...input }, ifMatch('*'))).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
    })

    test('is changed by only one of many concurrent editors with the same ETag', async () => {
      const email = newEmail()
      const [{ client: ada }, { client: bob, tag }] = [await person(), await person(email)]
      const { id } = await ada.notes.create({ title: 'Plan', body: '' })
      await ada.notes.share({ id, email, role: 'editor' })
      await bob.notes.update({ id, title: 'Plan', body: 'his' })
      const seen = ifMatch(tag())

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          safe(bob.notes.update({ id, title: 'Plan', body: String(index) }, seen)),
        ),
      )

      expect(outcomes.filter(({ isSuccess }) => isSuccess)).toHaveLength(1)
    })
  })
})

/** Creates a task. Returns the path and the ETag of the task, and the session cookie of its owner. */
async function createTask() {
  const cookie = await service.signIn(newEmail())
  const { headers, body } = await call('POST', '/api/tasks', { taskTitle: 'Write' }, { cookie })
  const path = `/api/tasks/${(body as { id: number }).id}`
  return { cookie, path, tag: headers.get('etag') ?? '' }
}

describe('If-None-Match', () => {
  test.each([
    ['TAG', 304],
    ['W/TAG', 304],
    ['"none", TAG', 304],
    ['*', 304],
    ['"none"', 200],
    ['', 200],
  ])('of %s results in %i', async (condition, status) => {
    const { cookie, path, tag } = await createTask()

    const headers = { cookie, 'if-none-match': condition.replace('TAG', tag) }
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(service.origin + path, { method, headers })

      expect(answer.status).toBe(status)
      expect(answer.headers.get('etag')).toBe(tag)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.has('content-type')).toBe(status === 200)
      expect(answer.headers.has('content-length')).toBe(status === 200)
      expect((await answer.text()) === '').toBe(status === 304 || method === 'HEAD')
    }
  })

  test('results in 200 after a change of the task', async () => {
    const { cookie, path, tag } = await createTask()
    await call('PATCH', path, { title: 'Changed' }, { cookie })

    const { status } = await call('GET', path, undefined, { cookie, 'if-none-match': tag })

    expect(status).toBe(200)
  })

  test('is evaluated after authentication, and for existing tasks only', async () => {
    const { cookie, path } = await createTask()
    const any = { 'if-none-match': '*' }

    expect((await call('GET', path, undefined, any)).status).toBe(401)
    expect((await call('GET', '/api/tasks/0', undefined, { cookie, ...any })).status).toBe(404)
  })

  test('does not affect a change', async () => {
    const { cookie, path, tag } = await createTask()

    const { status } = await call('PATCH', path, { title: 'Changed' }, { cookie, 'if-none-match': tag })

    expect(status).toBe(200)
  })
})

describe('If-Match', () => {
  test('does not hide a malformed path', async () => {
    const { cookie } = await createTask()

    const answer = await call('DELETE', '/api/tasks/abc', undefined, { cookie, 'if-match': '"1"' })

    expect(answer).toMatchObject({ status: 400, body: { data: { issues: [{ path: 'id' }] } } })
  })

  test('is evaluated after authentication', async () => {
    const { path } = await createTask()

    expect((await call('DELETE', path, undefined, { 'if-match': '"0"' })).status).toBe(401)
  })
})

describe('an ETag', () => {
  test('can be read by pages of trusted origins', async () => {
    const { cookie, path } = await createTask()

    const { headers } = await call('GET', path, undefined, { cookie, origin: 'https://trusted.example' })

    expect(headers.get('access-control-expose-headers')?.split(',')).toContain('etag')
  })

  test('is not part of a body', async () => {
    const { cookie, path } = await createTask()

    const { body } = await call('GET', path, undefined, { cookie })

    expect(Object.keys(body as object).sort()).toEqual(
      ['createdAt', 'description', 'id', 'status', 'title', 'updatedAt', 'userId'].sort(),
    )
  })
})
