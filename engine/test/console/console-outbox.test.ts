import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { newEmail } from '../fixtures/bind-service.ts'
import { startConsole } from '../fixtures/console.ts'

const { ask, client, cookie, service, services } = await startConsole()
const { outbox } = services.settings

const requestCode = (email: string) =>
  service.fetch('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })

/** Writes an e-mail with the HTML to the outbox. Returns the id of the e-mail. */
async function writeLetter(html: string) {
  const id = crypto.randomUUID()
  await mkdir(outbox, { recursive: true })
  await writeFile(
    join(outbox, `${id}.eml`),
    `To: ada@example.com\nSubject: Hello\nContent-Type: text/html; charset=utf-8\n\n${html}`,
  )
  return id
}

describe('outbox.list', () => {
  test('is empty before the first e-mail', async () => {
    expect(await client.outbox.list()).toEqual([])
  })

  test('shows each e-mail with its code, the newest first', async () => {
    const [first, second] = [newEmail(), newEmail()]
    await requestCode(first)
    await requestCode(second)

    const letters = (await client.outbox.list()) ?? []

    expect(letters.map(({ to }) => to)).toEqual([second, first])
    expect(letters[0]?.subject).toBe(`${letters[0]?.code} is your sign-in code`)
    expect(letters[0]?.code).toMatch(/^\d{6}$/)
    expect(Math.abs((letters[0]?.time ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  test('shows an e-mail that cannot be read, and the other e-mails', async () => {
    const id = await writeLetter('')
    const parts = Array.from(
      { length: 300 },
      (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`,
    )
    await writeFile(join(outbox, `${id}.eml`), `To: ada@example.com\n${parts.join('')}\nHello`)
    await writeFile(join(outbox, `${await writeLetter('')}.eml`), `Subject: ${'x'.repeat(3_000_000)}\n\n`)

    const other = await writeLetter('Hello')
    const letters = await client.outbox.list()
    const { status, body } = await ask('GET', `/outbox/${id}`, { cookie })

    expect(letters).toContainEqual(expect.objectContaining({ id: other, subject: 'Hello' }))
    expect(letters).toContainEqual({
      id,
      to: '',
      subject: 'An e-mail that cannot be read',
      time: 0,
      code: null,
    })
    expect([status, body.toString()]).toEqual([200, expect.stringContaining('This e-mail cannot be read.')])
  })
})

describe('outbox.get', () => {
  test('has the plain text and the headers', async () => {
    const id = await writeLetter('<p>Hello</p>')
    const email = newEmail()
    await requestCode(email)
    const sent = (await client.outbox.list())?.find(({ to }) => to === email)

    const own = await client.outbox.get({ id })
    const ofService = await client.outbox.get({ id: sent?.id ?? '' })

    expect(own.headers).toEqual([
      ['to', 'ada@example.com'],
      ['subject', 'Hello'],
      ['content-type', 'text/html; charset=utf-8'],
    ])
    expect(ofService.text).toContain(sent?.code)
    expect(ofService.headers).toContainEqual(['to', email])
  })

  test.each(['../auth-secret', 'list.txt', '', crypto.randomUUID()])('does not read %j', async (id) => {
    await expect(client.outbox.get({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('an e-mail', () => {
  test('has no scripts, no origin and no images of others', async () => {
    const id = await writeLetter(
      '<h1>Hello</h1><script>alert(1)</script><img src="http://example.com/x.png">',
    )

    const { status, headers, body } = await ask('GET', `/outbox/${id}`, { cookie })

    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(body.toString()).toContain('<h1>Hello</h1>')
    const policy = headers['content-security-policy']
    expect(policy).toMatch(/default-src 'none';.* img-src data:; sandbox; frame-ancestors 'self'$/)
    expect(policy).not.toMatch(/script-src|allow-/)
    expect(headers['x-frame-options']).toBe('SAMEORIGIN')
  })

  test('without HTML is shown as escaped text', async () => {
    const id = await writeLetter('')
    await writeFile(
      join(outbox, `${id}.eml`),
      'To: ada@example.com\nSubject: Hello\n\n<script>alert(1)</script>',
    )

    const { body } = await ask('GET', `/outbox/${id}`, { cookie })

    expect(body.toString()).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  test.each([
    '/outbox/../auth-secret',
    '/outbox/..%2fauth-secret',
    '/outbox/%2e%2e/auth-secret',
    '/outbox/',
    `/outbox/${crypto.randomUUID()}`,
    '/outbox/list.txt',
    `/console/../../../package.json`,
    '/console/%2e%2e/app/index.html',
    '/console//etc/passwd',
  ])('cannot be read at %s', async (path) => {
    expect((await ask('GET', path, { cookie })).status).toBe(404)
  })
})

test('outbox.list shows at most 100 e-mails, and ignores other files', async () => {
  await Promise.all(Array.from({ length: 105 }, () => writeLetter('Hello')))
  await writeFile(join(outbox, 'list.txt'), 'Hello')
  await writeFile(join(outbox, `${crypto.randomUUID()}.eml.part`), 'Hello')

  expect(await client.outbox.list()).toHaveLength(100)
})
