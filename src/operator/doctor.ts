import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'

import { type Inspection, inspect } from '../../db/inspection.ts'
import { FolderInUse } from '../../db/embedded.ts'
import { codeOf } from '../../db/errors.ts'
import { isServer } from '../../db/index.ts'
import { ExposedError, makeFolderPrivate } from '../../db/private.ts'
import { tryMailServer } from '../identity/mail.ts'
import { toErrorMessage } from '../cli/error-message.ts'
import { readSettings, type Settings } from '../settings.ts'
import { describeConnectionError } from './connection-error.ts'
import type { CommandContext } from './command-context.ts'

/** The oldest PostgreSQL that the statements are written for. */
const OLDEST = 15

/** How far two clocks may be apart, in milliseconds: codes and tokens are good for minutes. */
const DRIFT = 5_000

interface Finding {
  about: 'settings' | 'database' | 'migrations' | 'clock' | 'mail' | 'folder'
  /** What is so, where there is no problem. */
  fact?: string
  /** What is wrong, and what to do about it. */
  problem?: string | undefined
}

/** Says one line of everything that the service needs, and fails where one is a problem. */
export async function doctor({ environment, print }: CommandContext) {
  let problems = 0
  for await (const { about, fact = '', problem } of examine(environment)) {
    if (problem !== undefined) problems++
    print(`${problem === undefined ? 'ok     ' : 'problem'}  ${about.padEnd(10)}  ${problem ?? fact}`)
  }
  if (problems > 0) throw new Error(`Problems: ${problems}`)
}

async function* examine(environment: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  const settings = read(environment)
  if (Array.isArray(settings)) {
    for (const problem of settings) yield { about: 'settings', problem }
    return
  }
  const { production, baseUrl } = settings
  yield { about: 'settings', fact: `${production ? 'production' : 'development'}, ${baseUrl}` }
  yield* await examineDatabase(settings)
  yield await examineMail(settings)
  yield await examineFolder(settings)
}

/** The settings, or every mistake in them. */
function read(environment: NodeJS.ProcessEnv): Settings | string[] {
  try {
    return readSettings(environment)
  } catch (error) {
    const [title = '', ...mistakes] = toErrorMessage(error).split('\n')
    return mistakes.length > 0 ? mistakes.map((mistake) => mistake.trim()) : [title]
  }
}

async function examineDatabase({ databaseUrl, directUrl }: Settings): Promise<Finding[]> {
  const about = 'database'
  try {
    const { database, pending } = await inspect(directUrl ?? databaseUrl)
    if (!database) return [{ about, fact: 'none yet: the service makes it when it starts' }]
    const lacking = `${pending.join(', ')} missing: run tallystick migrate`
    return [
      examineServer(database),
      { about: 'migrations', fact: 'up to date', problem: pending.length > 0 ? lacking : undefined },
      examineClock(database),
    ]
  } catch (error) {
    if (error instanceof FolderInUse)
      return [{ about, fact: 'in use: stop the service to have it looked into' }]
    // By its code: a message may repeat parts of a mistaken address, and so of its password.
    return [
      {
        about,
        problem: isServer(databaseUrl)
          ? describeConnectionError('DATABASE_URL', error)
          : unusable(databaseUrl),
      },
    ]
  }
}

type Found = NonNullable<Inspection['database']>

function examineServer({ name, version }: Found): Finding {
  const fact = `PostgreSQL ${version}, ${name}`
  const old = Number.parseInt(version) < OLDEST
  return { about: 'database', fact, problem: old ? `${fact}: ${OLDEST} or later is needed` : undefined }
}

function examineClock({ ahead }: Found): Finding {
  const fact = `${new Date().toISOString()} here, ${Math.abs(ahead / 1000).toFixed(1)} s from the database's`
  const apart = Math.abs(ahead) > DRIFT
  return { about: 'clock', fact, problem: apart ? `${fact}: set both by NTP` : undefined }
}

const unusable = (folder: string) =>
  `${folder} cannot be opened: see whose it is, or put a backup in its place (tallystick restore FILE --force)`

async function examineMail({ smtpUrl, outbox }: Settings): Promise<Finding> {
  const about = 'mail'
  if (smtpUrl === undefined)
    return { about, fact: `no SMTP_URL: letters go to ${outbox}`, problem: await keepingFrom(outbox) }
  const refused = (error: unknown) => describeConnectionError('SMTP_URL', error)
  const problem = await tryMailServer(smtpUrl).then(() => undefined, refused)
  return { about, fact: 'the mail server lets the service in', problem }
}

async function examineFolder({ databaseUrl, smtpUrl, outbox }: Settings): Promise<Finding> {
  const about = 'folder'
  if (isServer(databaseUrl) && smtpUrl !== undefined)
    return { about, fact: 'none: nothing is kept on this machine' }
  const folder = dirname(outbox)
  return { about, fact: `${folder} is the service's alone`, problem: await keepingFrom(folder) }
}

/** Why a folder cannot keep secrets. Makes the folder private where that is possible, as the service does. */
async function keepingFrom(folder: string): Promise<string | undefined> {
  try {
    makeFolderPrivate(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    if (error instanceof ExposedError) return error.message
    return `${folder} cannot be used (${codeOf(error)}): give it to whoever runs the service`
  }
}
