import { eq, sql } from 'drizzle-orm'

import * as idempotency from 'tallystick/internal/db/accounts/idempotency'
import { MAX_TOKENS } from 'tallystick/internal/db/accounts/personal-tokens'
import { sessions } from 'tallystick/internal/db/accounts/sessions'
import { isServer } from 'tallystick/internal/db/connection/open'
import type { App } from 'tallystick/internal/app/resource'
import { type AnyCase, type AnyCases, callsOf } from './cases.ts'
import { callByPath, type Declared, proceduresOf } from './procedures.ts'
import { type ReceivedError, recordErrors, replaceProcedure } from './calls.ts'
import type { Connect, Running } from './running.ts'
import { callerOf, createScene, listSecrets, type Scene, type Worlds } from './worlds.ts'

/** A call that must cause an error, with the name of the error, for example `books.create ID_TAKEN`. */
export type ErrorCase = readonly [name: string, provoke: (scene: Scene, cases: AnyCases) => Promise<unknown>]

/** The errors of the procedures that every application has, without the errors of the guard, which `derivedCases` causes. */
const engineCases: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'account.export TOO_LARGE': async ({ running, ada, people }) => {
    // 17 MB of details: the limit of an export is 16 MiB.
    await running.services.db.execute(sql`
      insert into audit (action, outcome, subject, detail)
      select 'sign-in', 'accepted', ${ada.id}, repeat('x', 10000) from generate_series(1, 1700)`)
    return people.ada.account.export()
  },
  'account.delete WRONG_ADDRESS': ({ people }) => people.ada.account.delete({ email: 'x' }),
  // The error needs `prepare` of the application's cases, which shares a row of Ada.
  'account.delete HAS_SHARED_ITEMS': ({ people, ada }) => people.ada.account.delete({ email: ada.email }),
  'sessions.revoke CURRENT_SESSION': async ({ people }) => {
    const [own] = (await people.ada.sessions.list()).sessions
    return people.ada.sessions.revoke({ revokeSessionToken: own?.token ?? '' })
  },
  'sessions.revoke SESSION_NOT_FOUND': ({ people }) =>
    people.ada.sessions.revoke({ revokeSessionToken: 'none' }),
  'apps.revoke NOT_FOUND': ({ people }) => people.ada.apps.revoke({ id: 'none' }),
  'tokens.create TOO_MANY_TOKENS': async ({ people }) => {
    const create = () => people.ada.tokens.create({ label: 'Script', scopes: ['read'] })
    for (let count = 0; count < MAX_TOKENS; count++) await create()
    return create()
  },
}

/** Marks the sessions of Ada in the database as impersonations by the administrator. */
export async function impersonateAda({ running, ada, administrator }: Scene) {
  const { db } = running.services
  const [own] = await db.select().from(sessions).where(eq(sessions.userId, administrator.id))
  await db
    .update(sessions)
    .set({ impersonatedBy: administrator.id, administratorSessionId: own?.id ?? '' })
    .where(eq(sessions.userId, ada.id))
}

/** Calls a procedure with an idempotency key. The input of the cases names an item that the caller may use. */
function callWithKey(scene: Scene, cases: AnyCases, { name, meta }: Declared, key: string) {
  const { cookie } = callerOf(scene, meta)
  const headers = { cookie, 'idempotency-key': key }
  return firstCallOf(cases, name)(scene.connect(scene.running, headers), scene.fixture)
}

/** The cases that follow from the metadata of a procedure. */
function derivedCases(declared: Declared): ErrorCase[] {
  const { name, meta } = declared
  const callAsAda = ({ people }: Scene) => callByPath(people.ada, declared)
  const caseIf = (applies: true | undefined, code: string, provoke: ErrorCase[1]): ErrorCase[] =>
    applies ? [[`${name} ${code}`, provoke]] : []
  return [
    ...caseIf(meta.administratorsOnly, 'FORBIDDEN', callAsAda),
    ...caseIf(meta.noImpersonation, 'FORBIDDEN', async (scene) => {
      await impersonateAda(scene)
      return callAsAda(scene)
    }),
    ...caseIf(meta.ifMatch, 'PRECONDITION_FAILED', (scene, cases) => {
      const { cookie } = callerOf(scene, meta)
      return firstCallOf(cases, name)(
        scene.connect(scene.running, { cookie, 'if-match': '"0"' }),
        scene.fixture,
      )
    }),
    ...caseIf(meta.idempotencyKey, 'KEY_REUSED', async (scene, cases) => {
      const key = crypto.randomUUID()
      await idempotency.put(scene.running.services.db, {
        userId: callerOf(scene, meta).id,
        key,
        fingerprint: 'of another request',
        answer: { output: null, headers: [] },
      })
      return callWithKey(scene, cases, declared, key)
    }),
    ...caseIf(meta.idempotencyKey, 'UNDER_WAY', (scene, cases) =>
      scene.running.services.db.transaction(async (tx) => {
        const key = crypto.randomUUID()
        await idempotency.tryLock(tx, callerOf(scene, meta).id, key)
        return callWithKey(scene, cases, declared, key)
      }),
    ),
  ]
}

function firstCallOf(cases: AnyCases, name: string) {
  const [call] = callsOf(cases, name)
  if (!call) throw new Error(`Add a call to \`calls\` for ${name}`)
  return call
}

/** Lists the cases of all errors: errors of the application, of the engine, and errors that follow from the metadata. */
export function listErrorCases(app: App, cases: AnyCases): ErrorCase[] {
  const forbidden = Object.entries(cases.forbidden ?? {}).map(
    ([name, provoke]) => [`${name} FORBIDDEN`, provoke] as const,
  )
  const own = [...Object.entries(cases.errors), ...forbidden].flatMap(([name, provoke]): ErrorCase[] => {
    // The caller of `laws` sees the types of the cases.
    const call = provoke as AnyCase | undefined
    return call ? [[name, ({ people, fixture }) => call({ ...people, fixture })]] : []
  })
  // Only a contract with shared rows declares HAS_SHARED_ITEMS.
  const declared = listDeclaredErrors(app)
  const ofEngine = Object.entries(engineCases).filter(([name]) => declared.includes(name))
  return [
    ...ofEngine,
    ...own,
    ...readersOfParents(app).flatMap((reader) => casesOfStream(reader, own)),
    ...proceduresOf(app.router).flatMap(derivedCases),
  ]
}

/** Lists the procedures that read the states of parents. */
const readersOfParents = ({ router }: Pick<App, 'router'>) =>
  proceduresOf(router).filter(({ meta }) => meta.reads?.of !== undefined)

/**
 * Repeats the cases of a procedure that reads a topic with `live.watch` on this topic: a stream is refused with the same errors.
 */
const casesOfStream = (reader: Declared, own: readonly ErrorCase[]): ErrorCase[] =>
  own.flatMap(([name, provoke]): ErrorCase[] => {
    const [procedure, code = ''] = name.split(' ')
    return procedure === reader.name && STREAM_ERRORS.includes(code)
      ? [[`live.watch ${code}`, (scene, cases) => provoke(watchInstead(scene, reader), cases)]]
      : []
  })

const STREAM_ERRORS: readonly string[] = ['NOT_FOUND', 'FORBIDDEN']

/** Returns a scene whose clients watch a topic instead of calling the procedure that reads the topic. */
function watchInstead(scene: Scene, { path, meta: { reads } }: Declared): Scene {
  const watch = (client: Scene['people']['ada']) =>
    replaceProcedure(client, path, () => async (input) => {
      const given = { topics: [reads?.name], [reads?.name ?? '']: reads?.input?.parse(input) }
      const updates = await client.live.watch(given as Parameters<typeof client.live.watch>[0])
      // The watch is not refused: the stream must end, or it would stay open.
      return updates.return()
    }) as typeof client
  const { ada, bob, administrator } = scene.people
  return {
    ...scene,
    people: { ...scene.people, ada: watch(ada), bob: watch(bob), administrator: watch(administrator) },
  }
}

/** Causes an error. Returns the error and the secrets of Ada that the errors of Bob show, except secrets that Bob has sent. */
export async function causeError(worlds: Worlds, connect: Connect, cases: AnyCases, [, provoke]: ErrorCase) {
  const scene = await createScene(worlds, connect)
  const received: ReceivedError[] = []
  const bob = recordErrors(scene.people.bob, received) as typeof scene.people.bob
  const error = await provoke({ ...scene, people: { ...scene.people, bob } }, cases).then(
    () => undefined,
    (error: unknown) => error,
  )
  const secrets = listSecrets(worlds)
  const shown = received.flatMap(({ input, error }) =>
    secrets.filter((secret) => error.includes(secret) && !input.includes(secret)),
  )
  return { error, shown }
}

/** The embedded database has one connection, so another transaction cannot hold a lock. */
export const needsServer = ([name]: ErrorCase) => name.endsWith(' UNDER_WAY')

export const hasServer = ({ services: { settings } }: Running) => isServer(settings.databaseUrl)

/** Lists the errors that the contract declares. The errors of credentials and scopes have laws of their own. */
export const listDeclaredErrors = (app: Pick<App, 'router'>) =>
  proceduresOf(app.router).flatMap(({ name, errors }) =>
    errors
      .filter((code) => code !== 'UNAUTHORIZED' && code !== 'INSUFFICIENT_SCOPE')
      .map((code) => `${name} ${code}`),
  )

/**
 * Lists the declared errors without a case, with the line to add, and the cases of errors that no procedure declares. The
 * law of swapped values causes FORBIDDEN for procedures with an action.
 */
export function listMissingCases(app: App, cases: AnyCases) {
  const provoked = new Set(listErrorCases(app, cases).map(([name]) => name))
  const ofReaders = readersOfParents(app).flatMap(({ errors }) => errors.map((code) => `live.watch ${code}`))
  const declared = listDeclaredErrors(app).filter(
    (name) => !name.startsWith('live.watch ') || ofReaders.includes(name),
  )
  const withAction = new Set(
    proceduresOf(app.router).flatMap(({ name, meta }) => (meta.action ? [`${name} FORBIDDEN`] : [])),
  )
  return [
    ...declared.filter((name) => !provoked.has(name) && !withAction.has(name)).map(lineOfError),
    ...[...provoked]
      .filter((name) => !declared.includes(name))
      .map((name) => `The contract does not declare the error of the case '${name}'`),
  ]
}

/** The line to add for an error without a case, for example `loans.get NOT_FOUND`. */
export function lineOfError(name: string) {
  const [procedure = '', code] = name.split(' ')
  return code === 'FORBIDDEN'
    ? `Add to \`forbidden\`: '${procedure}': ({ bob, fixture }) => bob.${procedure}(…),`
    : `Add to \`errors\`: '${name}': ({ ada }) => ada.${procedure}(…),`
}
