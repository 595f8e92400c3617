import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Logger } from 'pino'
import { v7 } from 'uuid'

import { makeContentsPrivate, makeFolderPrivate } from '../db/connection/private.ts'
import { renderMail } from '../html/mail.ts'
import { isLoopback } from '../settings/loopback.ts'
import type { Translator } from '../texts/translation.ts'
import type { Settings } from '../settings/settings.ts'

/** Sends an e-mail. Rejects if the e-mail cannot be delivered to the mail server. */
export type Mailer = (email: Email) => Promise<void>

export interface Email {
  to: string
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
  /** By default, random. */
  messageId?: string
}

/**
 * Composes the e-mail with a sign-in code. The subject begins with the code, so that notifications show it. The e-mail
 * contains no text that a caller chooses, for example the name of an app, because any caller can request a code for any
 * address. `appName` is the name of this application.
 */
export const signInEmail = (to: string, code: string, appName: string, translator: Translator): Email => ({
  to,
  headers: { 'content-language': translator.language },
  subject: translator.translate('letterSubject', { code }),
  ...renderMail(translator, {
    name: appName,
    paragraphs: [translator.translate('letterCode'), translator.translate('letterUse', { name: appName })],
    code,
    advice: translator.translate('letterIgnore'),
  }),
})

/**
 * Timeouts for the mail server, in milliseconds. Short, because the request for a sign-in code waits for the mail
 * server.
 */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 10_000 }

/** Pauses after a temporary refusal, in milliseconds. */
const RETRY_DELAYS = [500, 1500]

/**
 * Options for SMTP_URL. With a password, a server on another machine must offer STARTTLS, because an attacker on the way can
 * remove the offer and read the password. Parameters of the address take precedence: `?requireTLS=false`.
 */
function transportOptions(smtpUrl: string) {
  const { hostname, username, password } = new URL(smtpUrl)
  return { url: smtpUrl, ...TIMEOUTS, requireTLS: username + password !== '' && !isLoopback(hostname) }
}

/** Connects to the mail server and authenticates, without sending an e-mail. Rejects if either step fails. */
export const verifyMailServer = (smtpUrl: string) => createTransport(transportOptions(smtpUrl)).verify()

/** The codes of a delivery error. Its message is omitted, because it may contain the text or the address of the e-mail. */
export const codesOfDelivery = (error: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(error instanceof Error ? error : {}).filter(([key]) =>
      ['code', 'command', 'responseCode'].includes(key),
    ),
  )

/** Whether a mail server refuses for now (RFC 5321, section 4.2.1: 4yz), such as 451. */
const isTemporary = (error: unknown) =>
  error instanceof Error &&
  'responseCode' in error &&
  Number(error.responseCode) >= 400 &&
  Number(error.responseCode) < 500

/** Repeats `send` after a temporary refusal, in the first half of `timeout`: the request for a code waits. */
async function retrying(send: () => Promise<unknown>, timeout: number) {
  const end = performance.now() + timeout / 2
  for (const delay of RETRY_DELAYS)
    try {
      return await send()
    } catch (error) {
      if (!isTemporary(error) || performance.now() + delay > end) throw error
      await sleep(delay)
    }
  return send()
}

/**
 * Creates the mailer. If SMTP_URL is set, the mailer sends e-mails by SMTP. Otherwise the mailer writes each e-mail to
 * a file in the outbox folder, and logs the subject.
 */
export function createMailer(settings: Settings, log: Logger): Mailer {
  const { smtpUrl, mailFrom: from, outbox, answerTimeout } = settings
  // Instead of base64 for some languages: tools and tests find the code in the encoded message.
  const defaults = {
    from,
    textEncoding: 'quoted-printable',
    // No automatic answers, such as of people on holiday (RFC 3834).
    headers: { 'auto-submitted': 'auto-generated' },
  } as const
  if (smtpUrl !== undefined) {
    const transport = createTransport(transportOptions(smtpUrl), defaults)
    return async (email) => {
      await retrying(() => transport.sendMail(email), answerTimeout)
    }
  }
  if (existsSync(outbox)) makeContentsPrivate(outbox)
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' }, defaults)
  return async (email: SendMailOptions) => {
    const file = join(outbox, `${v7()}.eml`)
    const { message } = await composer.sendMail(email)
    makeFolderPrivate(outbox)
    // Under another name first, so that no reader finds a part of the e-mail.
    await writeFile(`${file}.part`, message, { mode: 0o600 })
    await rename(`${file}.part`, file)
    log.info({ to: email.to, file }, `e-mail: ${email.subject}`)
  }
}
