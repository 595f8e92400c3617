import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ORPCError } from '@orpc/server'
import { htmlEscape } from 'escape-goat'
import { LRUCache } from 'lru-cache'
import PostalMime, { type Email } from 'postal-mime'

import type { Settings } from '../settings/settings.ts'
import { MAX_HEADERS, MAX_WHOLE_VALUE } from './bounds.ts'
import type { Letter, LetterParts } from './contract.ts'

const MAX_LETTERS = 100

/** The names of the files that the mailer writes (engine/identity/mail.ts): a UUID that begins with the time. */
const FILE = /^([\da-f-]{36})\.eml$/

type LetterContent = Pick<Email, 'to' | 'subject' | 'date' | 'html' | 'text'> &
  Partial<Pick<Email, 'headers'>>

const UNREADABLE: LetterContent = {
  subject: 'An e-mail that cannot be read',
  text: 'This e-mail cannot be read.',
}

export type Outbox = ReturnType<typeof createOutbox>

/** Reads the e-mails in the folder of the mailer. */
export function createOutbox({ outbox, smtpUrl }: Settings) {
  const parsed = new LRUCache<string, LetterContent>({ max: MAX_LETTERS })

  const listIds = async () => {
    const files = await readdir(outbox).catch((): string[] => [])
    return files.flatMap((file) => FILE.exec(file)?.[1] ?? [])
  }

  /** Parses an e-mail. Returns a placeholder for an e-mail that cannot be read, so that the other e-mails are listed. */
  async function parse(id: string): Promise<LetterContent> {
    const known = parsed.get(id)
    if (known) return known
    const email = await readFile(join(outbox, `${id}.eml`))
      .then((bytes) => PostalMime.parse(bytes))
      .catch(() => UNREADABLE)
    if (email !== UNREADABLE) parsed.set(id, email)
    return email
  }

  return {
    /** Lists the newest e-mails. Null if a mail server sends the e-mails. */
    async list(): Promise<Letter[] | null> {
      if (smtpUrl !== undefined) return null
      const ids = (await listIds()).sort().reverse().slice(0, MAX_LETTERS)
      return Promise.all(ids.map(async (id) => describe(id, await parse(id))))
    },

    /** Returns what the HTML does not show. Throws NOT_FOUND. */
    async get(id: string): Promise<LetterParts> {
      if (!(await listIds()).includes(id))
        throw new ORPCError('NOT_FOUND', { message: `There is no e-mail ${id}` })
      const { text, headers = [] } = await parse(id)
      return {
        text: text?.slice(0, MAX_WHOLE_VALUE) ?? null,
        headers: headers
          .slice(0, MAX_HEADERS)
          .map(({ key, value }) => [key, value.slice(0, MAX_WHOLE_VALUE)]),
      }
    },

    /** Returns the HTML of an e-mail. Undefined if there is no such e-mail. */
    async findHtml(id: string): Promise<string | undefined> {
      if (!(await listIds()).includes(id)) return undefined
      const { html, text = '' } = await parse(id)
      return html ?? htmlEscape`<!doctype html><title>E-mail</title><pre>${text}</pre>`
    },
  }
}

const describe = (id: string, { to = [], subject = '', date }: LetterContent): Letter => ({
  id,
  to: to.flatMap(({ address }) => address ?? []).join(', '),
  subject,
  time: Date.parse(date ?? '') || 0,
  code: /\b\d{6}\b/.exec(subject)?.[0] ?? null,
})
