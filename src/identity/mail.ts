import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { htmlEscape } from 'escape-goat'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Logger } from 'pino'
import { v7 } from 'uuid'

import { makeContentsPrivate, makeFolderPrivate } from '../../db/private.ts'
import type { Settings } from '../settings.ts'

/** Carries a letter off. Rejects where it cannot. */
export type Mailer = (letter: Letter) => Promise<void>

export interface Letter {
  to: string
  subject: string
  text: string
  html: string
}

/** The letter that signs somebody in. The code stands in the subject too, where a phone shows it. */
export function signInLetter(to: string, code: string): Letter {
  const lines = [
    'It signs you in to Tallystick and is good for five minutes.',
    'If you did not ask for it, do nothing.',
  ]
  return {
    to,
    subject: `${code} is your sign-in code`,
    text: [`Your sign-in code is ${code}`, ...lines].join('\n\n'),
    html:
      htmlEscape`<p>Your sign-in code is</p><p style="font-size:2em;letter-spacing:.2em"><b>${code}</b></p>` +
      lines.map((line) => htmlEscape`<p>${line}</p>`).join(''),
  }
}

/** How long a silent mail server may hold up a sign-in, in milliseconds. */
const PATIENCE = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 10_000 }

/** Reaches the mail server and signs in there, without sending anything. Rejects where it cannot. */
export const tryMailServer = (smtpUrl: string) => createTransport({ url: smtpUrl, ...PATIENCE }).verify()

/** Mail over SMTP, or, in development without it, as a file in the outbox and a line in the log. */
export function createMailer(settings: Settings, log: Logger): Mailer {
  const { smtpUrl, mailFrom: from, outbox } = settings
  if (smtpUrl !== undefined) {
    const transport = createTransport({ url: smtpUrl, ...PATIENCE }, { from })
    return async (letter) => {
      await transport.sendMail(letter)
    }
  }
  if (existsSync(outbox)) makeContentsPrivate(outbox)
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' }, { from })
  return async (letter: SendMailOptions) => {
    const file = join(outbox, `${v7()}.eml`)
    const { message } = await composer.sendMail(letter)
    makeFolderPrivate(outbox)
    await writeFile(file, message, { mode: 0o600 })
    log.info({ to: letter.to, file }, `letter: ${letter.subject}`)
  }
}
