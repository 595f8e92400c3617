import { randomBytes } from 'node:crypto'

import { createClient } from '../../contract/client.ts'
import { registerApp, type Tokens } from '../../engine/test/fixtures/oauth-app.ts'
import type { Caller } from './request-part-arbitraries.ts'
import { type Service, signIn } from './service-process.ts'

export interface TestAccount extends Caller {
  /** Texts that no other caller may receive. */
  secrets: string[]
  /** Ids of the account's task and note. */
  ids: string[]
  /** Gets a new access token, because an access token expires after ten minutes. */
  renewToken: () => Promise<void>
  /** Calls procedures with valid input, and returns their results. */
  readAll: () => Promise<unknown>
}

/** Creates a person with a task, a note, and an authorized OAuth client. */
export async function createAccount({ origin, dataDir }: Service, email: string): Promise<TestAccount> {
  const marker = randomMarker()
  const cookie = await signIn(origin, email, dataDir)
  const client = createClient(origin, { headers: { cookie } })
  const task = await client.tasks.create({ taskTitle: marker, taskDesc: marker })
  const note = await client.notes.create({ title: marker, body: marker })
  const app = await registerApp({ origin })
  let tokens = await app.obtainTokens(cookie, { resource: `${origin}/mcp` })
  const token = decodeURIComponent(cookie).replace(/^[^=]*=|\..*/g, '')
  return {
    marker,
    cookie,
    get bearer() {
      return tokens.access_token
    },
    renewToken: async () => {
      tokens = (await app.refresh(tokens.refresh_token)).body as Tokens
    },
    secrets: [marker, token, email, task.userId, tokens.access_token],
    ids: [String(task.id), note.id],
    readAll: async () => [
      await client.account.get(),
      await client.tasks.list(),
      await client.notes.list(),
      await client.legacyNotes.list(),
      await client.reservations.create({ name: 'Ada', guests: 2 }),
    ],
  }
}

/** Creates a caller without credentials. */
export function createAnonymousCaller(): Caller & Pick<TestAccount, 'secrets'> {
  const marker = randomMarker()
  return { marker, cookie: '', bearer: '', secrets: [marker] }
}

const randomMarker = () => randomBytes(8).toString('hex')
