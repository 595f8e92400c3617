import { htmlUnescape } from 'escape-goat'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { describe, expect, onTestFinished, test } from 'vitest'

import { isRightToLeft, languages } from '../../contract/languages.ts'
import { colors } from '../../html/tokens.ts'
import { createMailer, signInEmail } from '../../identity/mail.ts'
import { negotiateLanguage } from '../../texts/engine-texts.ts'
import { listenForMail } from '../fixtures/mail-server.ts'
import { readSettings } from '../fixtures/settings.ts'

const CODE = '482913'
const NAME = `Ben & Ada's "<i>Bücher</i>" &amp; more`
const SIX_DIGITS = /\b\d{6}\b/

const compose = (language: string) => signInEmail('ada@example.com', CODE, NAME, negotiateLanguage(language))

const createTestMailer = (environment: Record<string, string>) =>
  createMailer(
    readSettings({ AUTH_SECRET: 'a secret of at least thirty-two characters', ...environment }),
    pino({ level: 'silent' }),
  )

/** Sends the e-mail to a mail server. Returns the message as the server receives it. */
async function deliver(language: string) {
  const messages: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, _, done) =>
      void text(stream).then((message) => {
        messages.push(message)
        done()
      }),
  })
  await createTestMailer({ SMTP_URL: `smtp://${await listenForMail(server)}` })(compose(language))
  return messages.join()
}

/** Writes the e-mail to an outbox. Returns the content of the file. */
async function store(language: string) {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-mail-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await createTestMailer({ DATA_DIR: folder })(compose(language))
  const files = await readdir(join(folder, 'outbox'))
  return readFile(join(folder, 'outbox', files.join()), 'utf8')
}

async function receive(language: string) {
  const { text = '', html = '' } = await PostalMime.parse(await deliver(language))
  return { text, html }
}

const normalize = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The text that a mail program shows. */
const visibleTextOf = (html: string) =>
  normalize(htmlUnescape(html.replace(/<head>.*<\/head>/s, '').replace(/<[^>]*>/g, ' ')))

/** The declarations of a style by their property. */
const declarationsOf = (style: string) =>
  new Map(
    style.split(';').map((declaration) => {
      const [property = '', value = ''] = declaration.split(':')
      return [property, value]
    }),
  )

/** The inline declarations of the element with a class. */
const inlineStyleOf = (html: string, name: string) =>
  declarationsOf(new RegExp(`class="${name}" style="([^"]*)"`).exec(html)?.[1] ?? '')

describe.each(languages)('the e-mail with a code, in the language %s', (language) => {
  test('says the same in HTML and in plain text', async () => {
    const { text, html } = await receive(language)
    const { translate } = negotiateLanguage(language)

    expect(visibleTextOf(html)).toBe(normalize(text))
    expect(text.trimEnd().split(/\r?\n\r?\n/)).toEqual([
      NAME,
      `${translate('letterCode')} ${CODE}`,
      translate('letterUse', { name: NAME }),
      translate('letterIgnore'),
    ])
  })

  test('has the language and the direction of the person, and the code from left to right', async () => {
    const { html } = await receive(language)

    const attributes = `lang="${language}" dir="${isRightToLeft(language) ? 'rtl' : 'ltr'}"`
    expect(html).toContain(`<html ${attributes}>`)
    expect(html).toMatch(new RegExp(`<body[^>]*>\\s*<div ${attributes}`))
    expect(html).toMatch(new RegExp(`<p [^>]*dir="ltr">${CODE}</p>`))
  })

  test.each([
    ['to the mail server', deliver],
    ['in the outbox', store],
  ])(
    'has the code as the first number of six digits in the message and in each part: %s',
    async (_, send) => {
      const message = await send(language)

      const parts = message.split('Content-Type: text/').slice(1)
      expect(parts).toHaveLength(2)
      for (const encoded of [message, ...parts]) expect(SIX_DIGITS.exec(encoded)?.[0]).toBe(CODE)
      const { text, html } = await PostalMime.parse(message)
      expect(html).toMatch(new RegExp(`^dir="ltr">${CODE}</p>$`, 'm'))
      for (const decoded of [text, html]) expect(SIX_DIGITS.exec(decoded ?? '')?.[0]).toBe(CODE)
    },
  )
})

describe('the HTML of an e-mail', () => {
  test('shows the code large, and selects it as a whole', async () => {
    const { html } = await receive('en')

    const style = inlineStyleOf(html, 'code')
    const elements = [...html.matchAll(/<p class="code"[^>]*>([^<]*)<\/p>/g)].map(([, content]) => content)
    expect(elements).toEqual([CODE])
    expect(Number(/(\d+)px/.exec(style.get('font') ?? '')?.[1])).toBeGreaterThanOrEqual(32)
    expect(style.get('letter-spacing')).toMatch(/em$/)
    expect(style.get('user-select')).toBe('all')
    expect(style.get('-webkit-user-select')).toBe('all')
  })

  test('escapes the name of the application', async () => {
    const { html } = await receive('en')

    expect(
      html.split('Ben &amp; Ada&#39;s &quot;&lt;i&gt;Bücher&lt;/i&gt;&quot; &amp;amp; more'),
    ).toHaveLength(3)
    expect(html).not.toContain('<i>')
  })

  test('has the light colors inline, and a dark color for each in the media query', async () => {
    const { html } = await receive('en')

    const dark = /@media \(prefers-color-scheme: dark\)\{(.*?)\}\n\}/s.exec(html)?.[1] ?? ''
    const rules = [...`${dark}}`.matchAll(/\.(\w+)\{([^}]*)\}/g)]
    const pairs = rules.flatMap(([, name = '', style = '']) => {
      const inline = inlineStyleOf(html, name)
      return [...declarationsOf(style)].map(([property, value]) => [inline.get(property), value])
    })
    const tokens = Object.values(colors).map(([light, dark]) => [light, `${dark}!important`])

    expect(html).toContain('<meta name="color-scheme" content="light dark">')
    expect(rules.map(([, name]) => name)).toEqual(['body', 'name', 'card', 'code', 'advice'])
    for (const pair of pairs) expect(tokens).toContainEqual(pair)
    expect(html.match(/#[\da-f]{3,8}\b/g)).toHaveLength(2 * pairs.length)
  })

  test('is at most 480 pixels wide', async () => {
    expect((await receive('en')).html).toContain('max-width:480px')
  })

  test('loads nothing, and has no script and no link', async () => {
    expect((await receive('en')).html).not.toMatch(/<(script|img|link|a)\b|https?:|url\(|@import/)
  })
})
