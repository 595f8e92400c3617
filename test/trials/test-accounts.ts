import { randomBytes } from 'node:crypto'

import { createClient } from '../../contract/client.ts'
import { registerApp, type Tokens } from '../oauth-app.ts'
import type { Caller } from './request-part-arbitraries.ts'
import { type Service, signIn } from './service-process.ts'

export interface Person extends Caller {
  /** What nobody else may be told. */
  secrets: string[]
  /** Of a task and of a note. */
  ids: string[]
  /** Gets the app a new token, before the old one's ten minutes are over. */
  renew: () => Promise<void>
  /** What the service answers to good requests of theirs. */
  look: () => Promise<unknown>
}

/** Somebody who has a task, a note, and an app that calls for them. */
export async function settle({ origin, dataDir }: Service, email: string): Promise<Person> {
  const mark = randomMark()
  const cookie = await signIn(origin, email, dataDir)
  const client = createClient(origin, { headers: { cookie } })
  const task = await client.tasks.create({ taskTitle: mark, taskDesc: mark })
  const note = await client.notes.create({ title: mark, body: mark })
  const app = await registerApp({ origin })
  let tokens = await app.obtainTokens(cookie, { resource: `${origin}/mcp` })
  const token = decodeURIComponent(cookie).replace(/^[^=]*=|\..*/g, '')
  return {
    mark,
    cookie,
    get bearer() {
      return tokens.access_token
    },
    renew: async () => {
      tokens = (await app.refresh(tokens.refresh_token)).body as Tokens
    },
    secrets: [mark, token, email, task.userId, tokens.access_token],
    ids: [String(task.id), note.id],
    look: async () => [
      await client.account.get(),
      await client.tasks.list(),
      await client.notes.list(),
      await client.legacyNotes.list(),
      await client.reservations.create({ name: 'Ada', guests: 2 }),
    ],
  }
}

/** Somebody who is not signed in. */
export function stranger(): Caller & Pick<Person, 'secrets'> {
  const mark = randomMark()
  return { mark, cookie: '', bearer: '', secrets: [mark] }
}

const randomMark = () => randomBytes(8).toString('hex')
