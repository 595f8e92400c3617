import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Logger } from 'pino'
import { v7 } from 'uuid'

import { makeContentsPrivate, makeFolderPrivate } from '../db/private.ts'
import { renderMail } from '../html/mail.ts'
import type { Translator } from '../translation/index.ts'
import type { Settings } from '../settings.ts'

/** Sends an e-mail. Rejects if the e-mail cannot be delivered to the mail server. */
export type Mailer = (email: Email) => Promise<void>

export interface Email {
  to: string
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
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
    intro: translator.translate('letterCode'),
    code,
    paragraphs: [translator.translate('letterUse', { name: appName })],
    advice: translator.translate('letterIgnore'),
  }),
})

/**
 * Timeouts for the mail server, in milliseconds. Short, because the request for a sign-in code waits for the mail
 * server.
 */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 10_000 }

/** Connects to the mail server and authenticates, without sending an e-mail. Rejects if either step fails. */
export const verifyMailServer = (smtpUrl: string) => createTransport({ url: smtpUrl, ...TIMEOUTS }).verify()

/**
 * Creates the mailer. If SMTP_URL is set, the mailer sends e-mails by SMTP. Otherwise the mailer writes each e-mail to
 * a file in the outbox folder, and logs the subject.
 */
export function createMailer(settings: Settings, log: Logger): Mailer {
  const { smtpUrl, mailFrom: from, outbox } = settings
  // Instead of base64 for some languages: tools and tests find the code in the encoded message.
  const defaults = { from, textEncoding: 'quoted-printable' } as const
  if (smtpUrl !== undefined) {
    const transport = createTransport({ url: smtpUrl, ...TIMEOUTS }, defaults)
    return async (email) => {
      await transport.sendMail(email)
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
