import { type Connection, open } from '../db/index.ts'
import type { Parts } from './access.ts'
import { createAuth, createTokenReader } from './auth.ts'
import { createLog } from './log.ts'
import { createMailer, type Mailer } from './mail.ts'
import type { Settings } from './settings.ts'

/** Opens what the service is made of. */
export async function openParts(
  settings: Settings,
  mailer?: Mailer,
): Promise<Parts & Pick<Connection, 'close'>> {
  const log = createLog(settings)
  const { db, close } = await open(settings.databaseUrl)
  const auth = createAuth(settings, db, mailer ?? createMailer(settings, log), log)
  return { settings, db, auth, readToken: await createTokenReader(auth), log, close }
}
