import { implement, ORPCError } from '@orpc/server'

import { queuesOf } from '../app/resource.ts'
import { describeProcedures } from '../openapi/procedures.ts'
import { addSamples, describeSamples, importSamples, resetSamples } from '../operator/seed.ts'
import { listEmails } from '../db/accounts/users.ts'
import { readOnly } from '../db/catalogue.ts'
import { isServer } from '../db/connection/open.ts'
import { listBuildErrors } from './build-errors.ts'
import { createCalls } from './calls.ts'
import { consoleContract, SamplePerson } from './contract.ts'
import { createCredentials } from './credentials.ts'
import { explainStatement } from './requests/plans.ts'
import { exportRows, getRow, listRows, listTables } from './data/rows.ts'
import { readState } from './state.ts'
import type { ConsoleJobs } from './jobs.ts'
import { listTopics } from './live/live-recorder.ts'
import type { Outbox } from './outbox.ts'
import { type People, samplePeople, type ServiceParts } from './people.ts'
import { validateInput } from './procedures.ts'
import type { RequestRecorder } from './requests/recorder.ts'
import { createStreams } from './live/streams.ts'

export interface ConsoleParts extends ServiceParts {
  recorder: RequestRecorder
  people: People
  outbox: Outbox
  jobs: ConsoleJobs
  /** Returns the URL that signs a person in, by the secret of a link. */
  signInUrl: (secret: string) => string
}

/** Implements the procedures of the console. Only engine/console/server.ts serves the procedures, after its checks. */
export function createConsoleRouter(parts: ConsoleParts) {
  const { app, settings, db, notifications, recorder, people, outbox, jobs, signInUrl } = parts
  const os = implement(consoleContract)
  const credentials = createCredentials(parts, people)
  const call = createCalls(parts, credentials)
  const streams = createStreams({
    app,
    credentials,
    findStream: (request) => recorder.listStreams().find((stream) => stream.request === request)?.id,
  })
  recorder.onStop(streams.closeAll)
  // On demand, because the conversion of all schemas takes time.
  let described: ReturnType<typeof describeProcedures> | undefined
  const listProcedures = () => (described ??= describeProcedures(app.contract))
  // A link sets the session cookie for `localhost`, so that it does not mix with the cookie of the console at 127.0.0.1.
  const isAtLocalhost = new URL(settings.baseUrl).hostname === 'localhost'

  return os.router({
    overview: os.overview.handler(async () => ({
      name: app.name,
      version: app.version,
      origin: settings.baseUrl,
      mcp: `${settings.baseUrl}/mcp`,
      data: isServer(settings.databaseUrl) ? 'the PostgreSQL server of DATABASE_URL' : settings.databaseUrl,
      mail: settings.smtpUrl === undefined ? settings.outbox : 'the mail server of SMTP_URL',
      people: SamplePerson.options.map((person) => ({ person, ...samplePeople[person] })),
      canSignIn: isAtLocalhost,
      samples: Object.keys(await importSamples(app)),
      hasJobs: queuesOf(app).length > 0,
      buildErrors: listBuildErrors(),
    })),
    state: os.state.handler(() => readState(db)),
    procedures: {
      list: os.procedures.list.handler(listProcedures),
      validate: os.procedures.validate.handler(async ({ input: { operation, input } }) => ({
        issues: await validateInput(app, operation, input),
      })),
      call: os.procedures.call.handler(({ input }) => {
        const found = listProcedures().find(({ operation }) => operation === input.operation)
        if (!found) throw new ORPCError('NOT_FOUND', { message: `There is no procedure ${input.operation}` })
        if (found.isStream)
          throw new ORPCError('BAD_REQUEST', { message: 'The console does not call streams' })
        const { isRecorded, headers, ...others } = input
        return call({ ...others, headers: { ...headers, ...(!isRecorded && recorder.unrecorded) } })
      }),
    },
    people: {
      signIn: os.people.signIn.handler(({ input: { person } }) => {
        if (!isAtLocalhost)
          throw new ORPCError('CONFLICT', { message: 'BASE_URL is not an address at localhost' })
        return { url: signInUrl(people.createLink(person)) }
      }),
      emails: os.people.emails.handler(({ input: { ids } }) => readOnly(db, (tx) => listEmails(tx, ids))),
    },
    watch: os.watch.handler(({ signal }) => recorder.watch(signal)),
    statements: {
      explain: os.statements.explain.handler(({ input }) =>
        explainStatement(db, recorder.findStatement(input.id)),
      ),
    },
    live: {
      topics: os.live.topics.handler(() => listTopics(app)),
      streams: os.live.streams.handler(() =>
        recorder.listStreams().map((stream) => ({ ...stream, isOfConsole: streams.has(stream.id) })),
      ),
      open: os.live.open.handler(async ({ input: { input, caller } }) => ({
        stream: await streams.open(input, caller),
      })),
      close: os.live.close.handler(({ input }) => {
        streams.close(input.stream)
      }),
    },
    outbox: {
      list: os.outbox.list.handler(() => outbox.list()),
      get: os.outbox.get.handler(({ input }) => outbox.get(input.id)),
    },
    jobs: {
      list: os.jobs.list.handler(({ input }) => jobs.list(input)),
      get: os.jobs.get.handler(({ input }) => jobs.get(input.id)),
      retry: os.jobs.retry.handler(({ input }) => jobs.retry(input.id)),
      runNow: os.jobs.runNow.handler(({ input }) => jobs.runNow(input.id)),
    },
    data: {
      tables: os.data.tables.handler(() => listTables(db)),
      rows: os.data.rows.handler(({ input }) => listRows(db, input)),
      export: os.data.export.handler(({ input }) => exportRows(db, input)),
      row: os.data.row.handler(({ input }) => getRow(db, input)),
      addSamples: os.data.addSamples.handler(async () => {
        // As `tallystick seed` does: for Ada, and for the other sample account that Ada shares with.
        const samples = await importSamples(app)
        await addSamples({ db, notifications }, samplePeople.ada.email, samples)
        return { message: describeSamples(samplePeople.ada.email, samples) }
      }),
      resetSamples: os.data.resetSamples.handler(async () => {
        const samples = await resetSamples({ db, notifications }, samplePeople.ada.email, app)
        credentials.forgetAll()
        return { message: describeSamples(samplePeople.ada.email, samples) }
      }),
    },
  })
}
