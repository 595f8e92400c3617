import { readdir } from 'node:fs/promises'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, test } from 'vitest'

import { app } from '../src/app.ts'

const listFiles = () => readdir('.data/test-files')
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
let now = inDays(0)
const service = await createTallystick(app, {}, { now: () => now })
const origin = await service.listen()
afterAll(() => service.close())

/** A person with an attachment, and a function that sends requests to files. */
async function prepare() {
  const email = `${crypto.randomUUID()}@example.com`
  const cookie = await service.signIn(email)
  const client = service.client({ cookie })
  const project = await client.projects.create({ title: 'Bridge' })
  const ticket = await client.tickets.create({ projectId: project.id, title: 'The lamp' })
  const { id } = await client.attachments.create({ ticketId: ticket.id, title: 'photo "1".png' })
  const send = (id: number, init: RequestInit = {}) =>
    fetch(`${origin}/api/attachments/${id}/file`, {
      ...init,
      headers: { cookie, 'sec-fetch-site': 'same-origin', ...init.headers },
    })
  const upload = async (id: number, body: string, type = 'image/png') =>
    (await send(id, { method: 'PUT', body, headers: { 'content-type': type } })).status
  return { client, email, project, id, send, upload }
}

test('the file of an attachment is uploaded, and downloaded as an attachment, also in parts', async () => {
  const { client, id, send, upload } = await prepare()

  expect((await send(id)).status).toBe(404)
  expect(await upload(id, 'a photo')).toBe(204)
  const answer = await send(id)
  const part = await send(id, { headers: { range: 'bytes=2-' } })

  expect(await answer.text()).toBe('a photo')
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="photo \\"1\\".png"')
  expect([part.status, await part.text()]).toEqual([206, 'photo'])
  expect(await client.account.export()).toMatchObject({ attachments: [{ type: 'image/png', size: 7 }] })
})

test('a viewer only reads the file, and a stranger learns nothing of it', async () => {
  const [ada, bob] = [await prepare(), await prepare()]
  await ada.upload(ada.id, 'a photo')

  expect((await bob.send(ada.id)).status).toBe(404)
  expect(await bob.upload(ada.id, 'another')).toBe(404)
  await ada.client.projects.invite({ id: ada.project.id, email: bob.email, role: 'viewer' })
  expect((await bob.send(ada.id)).status).toBe(200)
  expect(await bob.upload(ada.id, 'another')).toBe(403)
  expect((await fetch(`${origin}/api/attachments/${ada.id}/file`)).status).toBe(401)
})

test('a file of another type, or that is too large, is refused', async () => {
  const { id, upload } = await prepare()

  expect(await upload(id, '<svg/>', 'text/html')).toBe(415)
  expect(await upload(id, 'x'.repeat(10_000_001))).toBe(413)
})

test('a file is removed after another upload, and with its attachment', async () => {
  const { client, id, send, upload } = await prepare()
  const before = await listFiles()
  await upload(id, 'a photo')
  await upload(id, 'a better photo')
  expect(await listFiles()).toHaveLength(before.length + 2)

  await service.runDueJobs()
  expect(await (await send(id)).text()).toBe('a better photo')
  await client.attachments.delete({ id })
  await service.runDueJobs()

  expect(await listFiles()).toEqual(before)
})

test('the files of a deleted account are removed at night, a day later', async () => {
  const [ada, bob] = [await prepare(), await prepare()]
  await bob.upload(bob.id, 'a photo')
  const before = await listFiles()
  await ada.upload(ada.id, 'a photo')
  const [file] = (await listFiles()).filter((each) => !before.includes(each))

  await ada.client.account.delete({ email: ada.email })
  now = inDays(2)
  await service.runDueJobs({ until: now })

  expect(await listFiles()).not.toContain(file)
  expect((await bob.send(bob.id)).status).toBe(200)
})
