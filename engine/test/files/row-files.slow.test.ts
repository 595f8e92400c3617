import { readdir } from 'node:fs/promises'
import { request as sendRequest } from 'node:http'
import { eq } from 'drizzle-orm'
import { describe, expect, test, vi } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { openFiles } from '../../http/files/index.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { answerTo, startPapers } from './papers/service.ts'
import { BUCKET, createFolder, startS3 } from './s3.ts'

const s3 = await startS3()
const databases = { 'a PostgreSQL server': {}, 'the embedded database': { DATABASE_URL: 'memory:' } }

describe.each(Object.entries(databases))('the file of a row, on %s', async (_, environment) => {
  const folder = createFolder()
  const files = await openFiles(folder)
  const service = await startPapers(files, environment)
  const { prepare } = service
  type Author = Awaited<ReturnType<typeof prepare>>

  test('belongs to the row with the UUID in the path', async () => {
    const [ada, eve] = [await prepare(), await prepare()]

    expect(await ada.upload(ada.id, 'text')).toBe(204)

    const answer = await ada.send(ada.id)
    expect([answer.status, await answer.text()]).toEqual([200, 'text'])
    expect((await eve.send(ada.id)).status).toBe(404)
    expect(await eve.upload(ada.id, 'another')).toBe(404)
  })

  test.each(['x', '..', '%2e%2e', '%2f', 'a%2fb', '%20', '0', 'x'.repeat(5000)])(
    'is 404 for a malformed id: %s',
    async (id) => {
      const ada = await prepare()

      expect((await ada.send(id)).status).toBe(404)
      expect(await ada.upload(id, 'text')).toBe(404)
    },
  )

  /** Sends the first bytes of a file for the paper of an author, and waits until the storage reads them. */
  async function beginUpload({ url }: Author, headers: Record<string, string>) {
    const put = vi.spyOn(files, 'put')
    const sent = sendRequest(url, {
      agent: false,
      method: 'PUT',
      headers: { ...headers, 'content-type': 'text/plain' },
    })
    sent.write('an')
    await vi.waitFor(() => {
      expect(put).toHaveBeenCalled()
    }, PATIENCE)
    put.mockRestore()
    return sent
  }

  /** What happens to Bob, an editor of the paper of Ada, while he uploads a file. */
  const events: Record<string, (ada: Author, bob: Author) => Promise<unknown>> = {
    'is banned': (_, { email }) =>
      service.services.db.update(users).set({ banned: true }).where(eq(users.email, email)),
    'signs out': (_, { post }) => post('/api/auth/sign-out'),
    'deletes the account': (_, { client, email }) => client.account.delete({ email }),
    'loses the permission': ({ client, id }, { email }) => client.papers.exclude({ id, email }),
    'becomes a reader': ({ client, id }, { email }) => client.papers.share({ id, email, role: 'reader' }),
  }

  test.each(Object.entries(events))(
    'keeps its content if the person %s during an upload',
    async (_, happen) => {
      const [ada, bob] = [await prepare(), await prepare()]
      await ada.upload(ada.id, 'text')
      await ada.client.papers.share({ id: ada.id, email: bob.email, role: 'editor' })
      const sent = await beginUpload(ada, bob.headers)

      await happen(ada, bob)
      sent.end('other')

      expect([401, 404]).toContain((await answerTo(sent)).statusCode)
      expect(await (await ada.send(ada.id)).text()).toBe('text')
    },
  )

  test('is not uploaded if its row is deleted during the upload', async () => {
    const ada = await prepare()
    const sent = await beginUpload(ada, ada.headers)

    await ada.client.papers.delete({ id: ada.id })
    sent.end('other')

    expect((await answerTo(sent)).statusCode).toBe(404)
    expect((await ada.send(ada.id)).status).toBe(404)
  })

  test('is read and uploaded by apps with the scopes, until a revocation during an upload', async () => {
    const ada = await prepare()
    const createToken = async (scopes: ('read' | 'write')[]) => {
      const { token } = await ada.client.tokens.create({ label: 'App', scopes, audience: 'service' })
      return { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }
    }
    const [reader, writer] = [await createToken(['read']), await createToken(['write'])]
    const statusOf = async (headers: Record<string, string>, method: string) =>
      (await fetch(ada.url, { method, headers, ...(method === 'PUT' && { body: 'text' }) })).status

    expect([await statusOf(reader, 'PUT'), await statusOf(writer, 'PUT')]).toEqual([403, 204])
    expect([await statusOf(reader, 'GET'), await statusOf(writer, 'GET')]).toEqual([200, 403])
    const sent = await beginUpload(ada, writer)
    for (const { id } of (await ada.client.apps.list()).apps) await ada.client.apps.revoke({ id })
    sent.end('other')
    expect((await answerTo(sent)).statusCode).toBe(401)
    expect(await (await ada.send(ada.id)).text()).toBe('text')
  })

  test('is the file of one of several uploads at once, and the others are removed', async () => {
    const ada = await prepare()
    const before = await readdir(folder)

    const statuses = await Promise.all(Array.from({ length: 10 }, () => ada.upload(ada.id, 'text')))
    await service.runDueJobs()

    expect(new Set(statuses)).toEqual(new Set([204]))
    expect(await (await ada.send(ada.id)).text()).toBe('text')
    expect(await readdir(folder)).toHaveLength(before.length + 1)
  })

  test('is not removed by a person who only reads, or with another version', async () => {
    const [ada, bob] = [await prepare(), await prepare()]
    await ada.upload(ada.id, 'text')
    await ada.client.papers.share({ id: ada.id, email: bob.email, role: 'reader' })
    const remove = (person: Author, headers = {}) =>
      fetch(`${service.origin}/api/papers/${ada.id}`, {
        ...{ method: 'DELETE', headers: { ...person.headers, ...headers } },
      })

    expect((await remove(bob)).status).toBe(403)
    expect((await remove(ada, { 'if-match': '"999"' })).status).toBe(412)
    await service.runDueJobs()

    expect(await (await ada.send(ada.id)).text()).toBe('text')
  })

  test.each(['', 'text'])('is refused with 415 if its type is not declared: %j', async (body) => {
    const ada = await prepare()

    expect(await ada.upload(ada.id, body, 'text/html')).toBe(415)
    expect((await ada.send(ada.id)).status).toBe(404)
  })

  test('has no media type that is longer than a media type can be', async () => {
    const ada = await prepare()

    await ada.upload(ada.id, 'text', `image/${'a'.repeat(128)}`)

    expect((await ada.send(ada.id)).headers.get('content-type')).toBe('application/octet-stream')
  })
})

test('many downloads at once occupy no connection that others need', async () => {
  const { prepare } = await startPapers(await openFiles(`s3://${BUCKET}`, s3.options))
  const [ada, bob] = [await prepare(), await prepare()]
  for (const { id, upload } of [ada, bob]) expect(await upload(id, 'text')).toBe(204)
  let open: () => void = () => undefined
  s3.state.requests.length = 0
  s3.state.ready = new Promise((resolve) => (open = resolve))

  const answers = [ada, bob].flatMap(({ id, send }) => Array.from({ length: 26 }, () => send(id)))

  // By default, the client of the bucket has 50 connections.
  await expect.poll(() => s3.state.requests.length, PATIENCE).toBe(52)
  open()
  for (const answer of await Promise.all(answers)) expect(await answer.text()).toBe('text')
})
