import { createRouterClient } from '@orpc/server'
import { describe, expect, test } from 'vitest'

import { createClient, createRestClient, safe } from '../../contract/client.ts'
import { bindTaggedClients } from '../../engine/test/fixtures/tagged-clients.ts'
import { app } from '../../src/app.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const transports = bindTaggedClients({
  createCaller: (context) => createRouterClient(app.router, { context }),
  createClient,
  createRestClient,
})

const ifMatch = (tag: string) => ({ context: { headers: { 'if-match': tag } } })
const preconditionFailed = { defined: true, code: 'PRECONDITION_FAILED', status: 412 }
const absent = '00000000-0000-7000-8000-000000000000'

describe.each(Object.entries(transports))('%s', (_, connect) => {
  const person = async (email = newEmail()) => connect(service, { cookie: await service.signIn(email) })

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
