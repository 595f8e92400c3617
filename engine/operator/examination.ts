import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'

import { importDevelopment } from './development.ts'
import { describeConnectionError } from '../db/connection/connection-errors.ts'
import { type Inspection, inspect } from '../db/inspection.ts'
import { FolderInUse } from '../db/connection/embedded.ts'
import { OtherVersion } from '../db/connection/pglite.ts'
import { codeOf, toErrorMessage } from '../db/errors.ts'
import { isServer } from '../db/connection/open.ts'
import { ExposedError, makeFolderPrivate } from '../db/connection/private.ts'
import { verifyMailServer } from '../identity/mail.ts'
import { type App, wantedMigrations } from '../app/resource.ts'
import { readSettings, type Settings } from '../settings/settings.ts'
import type { CommandContext } from './command-context.ts'
import type { Finding } from './finding.ts'
import { describeChanged } from './migrate.ts'

/** The oldest supported major version of PostgreSQL. */
const MIN_POSTGRES_VERSION = 15

/**
 * Maximum accepted difference between the clocks of this host and of the database server, in milliseconds. Must be
 * small, because codes and tokens expire after minutes.
 */
const MAX_CLOCK_DIFFERENCE = 5_000

/** Checks everything that depends on the settings. */
export async function* examineService(context: CommandContext): AsyncGenerator<Finding> {
  const settings = await readSettingsOrProblems(context)
  if (Array.isArray(settings)) {
    for (const problem of settings) yield { subject: 'settings', problem }
    return
  }
  const { production, baseUrl } = settings
  yield { subject: 'settings', fact: `${production ? 'production' : 'development'}, ${baseUrl}` }
  yield* await examineDatabase(settings, await context.loadApp())
  yield* await examineSources()
  yield await examineMail(settings)
  yield await examineFolder(settings)
}

/** Returns the settings, or a list of problems if settings are invalid. */
async function readSettingsOrProblems({
  environment,
  loadApp,
}: CommandContext): Promise<Settings | string[]> {
  try {
    return readSettings(environment, await loadApp())
  } catch (error) {
    // The message for invalid settings has a title, and one line for each problem.
    const [title = '', ...problems] = toErrorMessage(error).split('\n')
    return problems.length > 0 ? problems.map((problem) => problem.trim()) : [title]
  }
}

async function examineDatabase({ databaseUrl, directUrl }: Settings, app: App): Promise<Finding[]> {
  const subject = 'database'
  try {
    const { database, pending, changed } = await inspect(directUrl ?? databaseUrl, wantedMigrations(app))
    if (!database) return [{ subject, fact: 'does not exist yet: the service creates it at its first start' }]
    return [examineServer(database), ...examineMigrations(pending, changed), examineClock(database)]
  } catch (error) {
    if (error instanceof FolderInUse)
      return [{ subject, fact: 'in use by the service: to check the database, stop the service' }]
    if (error instanceof OtherVersion) return [{ subject, problem: error.message }]
    return [
      {
        subject,
        problem: isServer(databaseUrl)
          ? describeConnectionError('DATABASE_URL', error)
          : describeUnusableFolder(databaseUrl),
      },
    ]
  }
}

function examineMigrations(pending: readonly string[], changed: readonly string[]): Finding[] {
  const problems = [
    ...(pending.length > 0 ? [`${pending.join(', ')} missing: run tallystick migrate`] : []),
    ...changed.map(describeChanged),
  ]
  if (problems.length === 0) return [{ subject: 'migrations', fact: 'up to date' }]
  return problems.map((problem) => ({ subject: 'migrations', problem }))
}

/** Finds tables without a migration, in the folder of a project. */
async function examineSources(): Promise<Finding[]> {
  const development = await importDevelopment()
  const problems = (await development?.listMigrationProblems()) ?? []
  return problems.map((problem) => ({ subject: 'migrations', problem }))
}

type InspectedDatabase = NonNullable<Inspection['database']>

function examineServer({ name, version }: InspectedDatabase): Finding {
  const fact = `PostgreSQL ${version}, ${name}`
  const isOld = Number.parseInt(version) < MIN_POSTGRES_VERSION
  return {
    subject: 'database',
    fact,
    problem: isOld ? `${fact}: upgrade to PostgreSQL ${MIN_POSTGRES_VERSION} or later` : undefined,
  }
}

function examineClock({ clockOffset }: InspectedDatabase): Finding {
  const fact = `${new Date().toISOString()} on this host, ${Math.abs(clockOffset / 1000).toFixed(1)} s difference to the database server`
  const exceedsLimit = Math.abs(clockOffset) > MAX_CLOCK_DIFFERENCE
  return {
    subject: 'clock',
    fact,
    problem: exceedsLimit ? `${fact}: synchronize both clocks with NTP` : undefined,
  }
}

const describeUnusableFolder = (folder: string) =>
  `${folder} cannot be opened: check its owner and permissions, or restore a backup (tallystick restore FILE --force)`

async function examineMail({ smtpUrl, outbox }: Settings): Promise<Finding> {
  const subject = 'mail'
  if (smtpUrl === undefined)
    return {
      subject,
      fact: `SMTP_URL is not set: the service writes e-mails to ${outbox}`,
      problem: await findFolderProblem(outbox),
    }
  const describe = (error: unknown) => describeConnectionError('SMTP_URL', error)
  const problem = await verifyMailServer(smtpUrl).then(() => undefined, describe)
  return { subject, fact: 'the mail server accepts the connection and the credentials', problem }
}

async function examineFolder({ databaseUrl, smtpUrl, outbox }: Settings): Promise<Finding> {
  const subject = 'folder'
  if (isServer(databaseUrl) && smtpUrl !== undefined)
    return { subject, fact: 'not used: the service stores no files on this host' }
  const folder = dirname(outbox)
  return {
    subject,
    fact: `${folder} is accessible only to the service`,
    problem: await findFolderProblem(folder),
  }
}

/**
 * Returns the problem if the service cannot store secrets in a folder, otherwise undefined. Before the check, restricts
 * the permissions of the folder, as the service does.
 */
async function findFolderProblem(folder: string): Promise<string | undefined> {
  try {
    makeFolderPrivate(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    if (error instanceof ExposedError) return error.message
    return `${folder} cannot be used (${codeOf(error)}): make it readable and writable for the user that runs the service`
  }
}
