import { text } from 'node:stream/consumers'

import { SMTPServer } from 'smtp-server'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { createContext } from '../../guard/authentication.ts'
import { listenForMail } from '../fixtures/mail-server.ts'
import { readSettings } from '../fixtures/settings.ts'
import { openServices } from '../../start/open-services.ts'
import { app, arrived, empty, undeclared } from './letters.ts'

const databases = { 'a server': {}, 'the embedded database': { DATABASE_URL: 'memory:' } }
const at = new Date('2030-01-02T03:04:05Z')

type Service = Awaited<ReturnType<typeof start>>

const start = (environment: Record<string, string>) =>
  createTallystick(app, { BASE_URL: 'https://parcels.example', ...environment })

describe.each(Object.entries(databases))('e-mails on %s', (_, environment) => {
  let service: Service
  beforeAll(async () => {
    service = await start({
      RATE_LIMITS: 'on',
      LIMITS: 'mailsBySender=3,mailsToRecipient=5,mailsByNetwork=2',
      ...environment,
    })
  }, 60_000)
  afterAll(() => service.close())

  const runDue = () => service.services.worker.runDue(new Date(Date.now() + 1000))
  const lettersTo = (email: string) =>
    service.letters.filter(({ to, subject }) => to === email && !/^\d{6}/.test(subject))
  /** Sends outside of a call. */
  const send = (...parameters: Parameters<ReturnType<typeof createContext>['mail']['send']>) =>
    createContext(service.services, {}).mail.send(...parameters)

  test('are sent after the commit, in the language of the request, with a link below BASE_URL', async () => {
    const email = 'ada@example.com'
    const cookie = await service.signIn(email)
    const ada = service.client({ cookie, 'accept-language': 'he, en;q=0.5' })

    await ada.parcels.create({ label: '<b>Box</b>\n& Co' })
    expect(lettersTo(email)).toEqual([])
    const [attempt] = await runDue()

    expect(attempt).toMatchObject({ name: 'mail', outcome: 'completed' })
    const [letter] = lettersTo(email)
    expect(letter).toMatchObject({
      subject: 'he: <b>Box</b> & Co',
      messageId: `<${attempt?.id}@parcels.example>`,
      headers: { 'content-language': 'he' },
    })
    expect(letter?.text).toContain('Show: https://parcels.example/parcels')
    expect(letter?.text).toContain(at.toISOString())
    expect(letter?.html).toContain('<html lang="he" dir="rtl">')
    expect(letter?.html).toContain('&lt;b&gt;Box&lt;/b&gt;')
    expect(letter?.html).not.toContain('<b>')
  })

  test('are not sent after a rollback', async () => {
    const email = 'bob@example.com'
    const bob = await service.person(email)

    await expect(bob.parcels.create({ label: 'Box', isRefused: true })).rejects.toMatchObject({
      code: 'REFUSED',
    })
    await runDue()

    expect(lettersTo(email)).toEqual([])
  })

  test('are limited by sender, and the answer says when to try again', async () => {
    const carl = await service.person('carl@example.com')
    const reply = new Map<string, string | string[]>()

    for (const label of ['1', '2', '3']) await carl.parcels.create({ label })
    await expect(carl.parcels.create({ label: '4' }, { context: { reply } })).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
    })

    expect(reply.get('ratelimit')).toContain('"mailsBySender"')
    await runDue()
    expect(lettersTo('carl@example.com')).toHaveLength(3)
    expect((await carl.parcels.list()).parcels).toHaveLength(3)
  })

  test('are limited by network for calls without a person', async () => {
    const sendFrom = (network: string, to: string) =>
      createContext(service.services, {}, { ipAddress: () => network }).mail.send({
        to,
        template: arrived,
        values: { label: 'Box', at },
      })
    const [here, there] = ['192.0.2.1', '192.0.2.2']

    for (const to of ['hana@example.com', 'ines@example.com']) await sendFrom(here, to)

    await expect(sendFrom(here, 'jana@example.com')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
    await expect(sendFrom(there, 'jana@example.com')).resolves.toBeDefined()
    await runDue()
  })

  test('are limited by recipient, whatever the case of the address', async () => {
    for (const to of [
      'dora@example.com',
      'Dora@example.com',
      'dora@EXAMPLE.com',
      'DORA@example.com',
      'dora@example.com',
    ])
      await send({ to, template: arrived, values: { label: 'Box', at } })

    await expect(
      send({ to: 'dora@example.com', template: arrived, values: { label: 'Box', at } }),
    ).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
    await runDue()
  })

  test.each([
    '//evil.example/x',
    '/\\evil.example',
    'https://evil.example',
    'parcels',
    'javascript:alert(1)',
  ])('refuse a link to %s', async (path) => {
    await expect(
      send({ to: 'eve@example.com', template: arrived, values: { label: 'Box', at, path } }),
    ).rejects.toThrow('must begin with / and be below BASE_URL')
  })

  test.each(['eve', 'eve@example.com, ada@example.com', 'eve@example.com\r\nBcc: ada@example.com', ''])(
    'refuse the address %j',
    async (to) => {
      await expect(send({ to, template: arrived, values: { label: 'Box', at } })).rejects.toThrow()
      expect(await runDue()).toEqual([])
    },
  )

  test('have no line of a value that looks like a paragraph or a link', async () => {
    const label = 'Box\n\nShow: https://evil.example/\u0007'

    await send({ to: 'finn@example.com', template: arrived, values: { label, at } })
    await runDue()

    const [letter] = lettersTo('finn@example.com')
    expect(letter?.text).toContain('The parcel Box Show: https://evil.example/ has arrived.')
  })

  test('are deleted with the account that sends them, and with the account that would receive them', async () => {
    const email = 'gina@example.com'
    const gina = await service.person(email)
    await gina.parcels.create({ label: 'Own' })
    await send({ to: 'Gina@Example.com', template: arrived, values: { label: 'Of others', at } })

    await gina.account.delete({ email })

    expect(await runDue()).toEqual([])
  })

  test('refuse a template without a paragraph, and one that is not declared', async () => {
    await expect(send({ to: 'eve@example.com', template: empty, values: {} })).rejects.toThrow(
      'The template empty has mistakes',
    )
    await expect(send({ to: 'eve@example.com', template: undeclared, values: {} })).rejects.toThrow(
      'add the template to `mails` of defineApp',
    )
  })
})

test('an e-mail that the mail server refuses is sent again, with the same Message-ID', async () => {
  const received: string[] = []
  let attempts = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, _session, done) => {
      void text(stream).then((message) => {
        received.push(message)
        done(
          attempts++ === 0
            ? Object.assign(new Error('Refused: ada@example.com'), { responseCode: 554 })
            : null,
        )
      })
    },
  })
  const settings = readSettings({
    DATABASE_URL: 'memory:',
    SMTP_URL: `smtp://${await listenForMail(server)}`,
    AUTH_SECRET: 'a secret of at least thirty-two characters',
    LOG_LEVEL: 'silent',
  })
  const services = await openServices(app, settings)
  onTestFinished(() => services.close())

  const letter = { to: 'ada@example.com', template: arrived, values: { label: 'Box', at } }
  const id = await createContext(services, {}).mail.send(letter)
  const first = await services.worker.runDue(new Date(Date.now() + 1000))
  const second = await services.worker.runDue(new Date(Date.now() + 60_000))

  expect([...first, ...second]).toMatchObject([{ outcome: 'failed' }, { outcome: 'completed' }])
  expect(first).toMatchObject([{ error: new Error('The e-mail could not be sent: EMESSAGE: 554: DATA') }])
  const header = `Message-ID: <${id}@localhost>`
  expect(received).toEqual([expect.stringContaining(header), expect.stringContaining(header)])
})
