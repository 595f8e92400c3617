import type { Language } from 'tallystick-contract'
import type * as z from 'zod'

/**
 * What an e-mail says. The service escapes the texts, and adds the name of the application.
 *
 * @example
 * const text: MailText = { subject: 'Your book is due', paragraphs: [`Return ${title} by tomorrow.`] }
 */
export interface MailText {
  subject: string
  /** At least one. */
  paragraphs: readonly string[]
  /** A button. The path begins with `/` and is below BASE_URL. */
  link?: { label: string; path: string }
  /** What to do with an unwanted e-mail. */
  advice?: string
}

/** The kind of an e-mail: its values, and its texts in each language. */
export interface MailTemplate<Values extends z.ZodObject = z.ZodObject> {
  values: Values
  write: (values: z.output<Values>, language: Language) => MailText
}

/** A template with any values. `never` accepts functions of every value. */
export interface AnyMailTemplate {
  values: z.ZodObject
  write: (values: never, language: Language) => MailText
}

/** The templates of an application by their names, which must stay the same while e-mails wait. */
export type MailTemplates = Readonly<Record<string, AnyMailTemplate>>

/** Only an application with templates has the queue of e-mails and their limits. */
export const hasMails = (mails: MailTemplates) => Object.keys(mails).length > 0

/**
 * Declares a kind of e-mail. Its texts are written when the e-mail is sent, and once when a call adds it to the queue, to find mistakes.
 *
 * @example
 * export const invited = mailTemplate(z.object({ project: z.string() }), ({ project }) => ({
 *   subject: `You are invited to ${project}`,
 *   paragraphs: [`You can see ${project} as soon as you sign in with this address.`],
 *   link: { label: 'Open', path: '/projects' },
 * }))
 */
export const mailTemplate = <Values extends z.ZodObject>(
  values: Values,
  write: MailTemplate<Values>['write'],
): MailTemplate<Values> => ({ values, write })
