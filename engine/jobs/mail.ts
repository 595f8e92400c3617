import type { Language } from 'tallystick-contract'
import { languages, MAX_EMAIL } from 'tallystick-contract/internal'
import * as z from 'zod'

import { type AnyJob, job } from '../app/job.ts'
import type { MailTemplates } from '../app/mail-template.ts'
import { mailLimits } from '../app/rate-limits.ts'
import type { App } from '../app/resource.ts'
import type { InsertMail } from '../call/connection.ts'
import type { ConsumeRateLimit } from '../call/context.ts'
import { renderMail } from '../html/mail.ts'
import { consumeLimit } from '../guard/access.ts'
import { type JobData, MAIL_QUEUE } from '../db/jobs/tables.ts'
import { networkOf } from '../guard/networks.ts'
import { codesOfDelivery, type Email, type Mailer } from '../identity/mail.ts'
import { negotiateLanguage } from '../texts/engine-texts.ts'
import { normalizeAddress } from '../values/mail-address.ts'
import { serializer } from '../values/serializer.ts'
import type { Queues } from './queues.ts'

/** The input of the job that sends an e-mail. */
const MailInput = z.object({
  to: z.email().max(MAX_EMAIL),
  template: z.string(),
  values: z.record(z.string(), z.unknown()),
  language: z.enum(languages),
  /** The account whose call sends the e-mail. Its deletion deletes the job. */
  sender: z.string().optional(),
})
type MailInput = z.output<typeof MailInput>

/** What an e-mail needs beside its input. */
interface MailParts {
  app: Pick<App, 'name' | 'mails'>
  settings: { baseUrl: string }
}

/** Creates the job that sends an e-mail. Each attempt has the same Message-ID, by which mail servers find a repetition. */
export const createMailJob = (parts: MailParts, send: Mailer): AnyJob =>
  job({ input: MailInput, retries: 10, person: ({ sender }) => sender }, async (input, { id }) => {
    const { hostname } = new URL(parts.settings.baseUrl)
    await send({ ...compose(parts, input), messageId: `<${id}@${hostname}>` }).catch((error: unknown) => {
      throw refusalOf(error)
    })
  })

/** Writes the e-mail of a job, as the next attempt sends the e-mail. Throws if the template has mistakes. */
export const composeStored = (parts: MailParts, { input, meta }: JobData) =>
  compose(parts, MailInput.parse(serializer.deserialize(input, [...meta])))

/** Without the answer of the mail server, which can contain the address: dead jobs keep their error. */
const refusalOf = (error: unknown) =>
  new Error(['The e-mail could not be sent', ...Object.values(codesOfDelivery(error))].join(': '))

/** Creates the function that adds an e-mail to the queue, on a connection. */
export function createInsertMail(
  parts: MailParts,
  mailJob: AnyJob,
  { insertJob, findKeyed }: Queues,
  consumeRateLimit: ConsumeRateLimit,
): InsertMail {
  const names = new Map(Object.entries(parts.app.mails).map(([name, template]) => [template as object, name]))
  return async (db, { to, template, values, language }, { attributes, headers, reply, ipAddress, keyOf }) => {
    const name = names.get(template)
    if (name === undefined)
      throw new Error('The template is not declared: add the template to `mails` of defineApp')
    const input = MailInput.parse({
      to: normalizeAddress(to),
      template: name,
      values,
      language: language ?? negotiateLanguage(headers['accept-language']).language,
      sender: attributes.person,
    })
    // A mistake of the template is an error of the call, not of a job that nobody waits for.
    compose(parts, input)
    // Only the e-mails of a job have a key, which is the same in each attempt: an e-mail that an earlier attempt added is neither added
    // nor counted again.
    const key = keyOf?.(JSON.stringify(serializer.serialize(input)))
    const sent = key === undefined ? undefined : await findKeyed(db, MAIL_QUEUE, key)
    if (sent !== undefined) return sent
    await requireWithinLimits({ consumeRateLimit, reply }, input, networkOf(ipAddress?.()))
    return insertJob(db, mailJob, input, key === undefined ? {} : { key })
  }
}

/** Throws 429, and sets the headers of the answer, if an e-mail exceeds a limit. */
async function requireWithinLimits(
  call: Parameters<typeof consumeLimit>[0],
  { to, sender }: MailInput,
  network: string | undefined,
) {
  if (sender !== undefined) await consumeLimit(call, mailLimits.mailsBySender, sender)
  else if (network !== undefined) await consumeLimit(call, mailLimits.mailsByNetwork, network)
  await consumeLimit(call, mailLimits.mailsToRecipient, `${sender ?? ''} ${to.toLowerCase()}`)
  await consumeLimit(call, mailLimits.mails, 'all')
}

/** A line break in a value must not look like the next paragraph, or like the line with the link. */
const line = z
  .string()
  .transform((text) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim())
  .pipe(z.string().min(1))

/** What a template writes, on one line each. */
const Text = z.object({
  subject: line.pipe(z.string().max(250)),
  paragraphs: z.array(line).min(1),
  link: z.object({ label: line, path: z.string() }).optional(),
  advice: line.optional(),
})

/** Writes the texts of an e-mail, and renders them. */
function compose(
  { app: { name, mails }, settings: { baseUrl } }: MailParts,
  { to, template, values, language }: MailInput,
): Email {
  const { subject, paragraphs, link, advice } = write(mails, template, values, language)
  return {
    to,
    headers: { 'content-language': language },
    subject,
    ...renderMail(negotiateLanguage(language), {
      name,
      paragraphs,
      link: link && { label: link.label, url: urlOf(template, link.path, baseUrl) },
      advice,
    }),
  }
}

function write(mails: MailTemplates, name: string, values: unknown, language: Language) {
  const template = mails[name]
  if (!template) throw new Error(`The application has no template ${name}`)
  const { success, data, error } = Text.safeParse(
    template.write(template.values.parse(values) as never, language),
  )
  if (!success) throw new Error(`The template ${name} has mistakes:\n${z.prettifyError(error)}`)
  return data
}

/** People trust a link in an e-mail of the service, so it leads nowhere else. */
function urlOf(template: string, path: string, baseUrl: string) {
  const url = new URL(path, baseUrl)
  if (!path.startsWith('/') || url.origin !== new URL(baseUrl).origin)
    throw new Error(
      `The template ${template} links to ${path}: a path must begin with / and be below BASE_URL`,
    )
  return url.href
}
