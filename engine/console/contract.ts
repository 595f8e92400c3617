import { eventIterator, oc } from '@orpc/contract'
import { z } from 'zod'

import { ProcedureDescription } from '../openapi/procedure-description.ts'
import { MAX_IDS, MAX_TEXT } from './bounds.ts'
import { dataContract } from './data/data-contract.ts'
import { jobsContract } from './jobs-contract.ts'
import { liveContractOf } from './live/live-contract.ts'
import { Plan, RecordedBatch } from './requests/requests-contract.ts'

// The procedures of the console, for its page (pages/console/). No other client has these procedures.

/** A person of the samples, with an e-mail address at a reserved domain (RFC 2606), which no real account can have. */
export const SamplePerson = z.enum(['ada', 'charles', 'admin'])
export type SamplePerson = z.infer<typeof SamplePerson>

/** Who makes a call: a person with a session or with an access token. Without a person, the call has no credential. */
const CallerChoice = z.object({
  person: SamplePerson.nullable(),
  /** Null for a session. */
  scopes: z
    .array(z.enum(['read', 'write']))
    .min(1)
    .nullable(),
})
export type CallerChoice = z.infer<typeof CallerChoice>

export const BuildError = z.object({
  message: z.string(),
  /** Lines and columns are from 1. Null for an error of no file. */
  position: z.object({ file: z.string(), line: z.number(), column: z.number() }).nullable(),
  /** The line of the source. */
  text: z.string(),
})
export type BuildError = z.infer<typeof BuildError>

const Overview = z.object({
  name: z.string(),
  version: z.string(),
  /** The origin of the service. */
  origin: z.string(),
  /** The URL for agents. */
  mcp: z.string(),
  /** Where the data is, as a phrase. */
  data: z.string(),
  /** Where sign-in codes are sent, as a phrase. */
  mail: z.string(),
  people: z.array(z.object({ person: SamplePerson, name: z.string(), email: z.string() })),
  /** Whether a link can sign in to the page of the application: only if that page is at `localhost`. */
  canSignIn: z.boolean(),
  /** The names of the resources with sample data. */
  samples: z.array(z.string()),
  /** Whether the application declares jobs or e-mails. */
  hasJobs: z.boolean(),
  /** The errors of the last build of `tallystick dev`, after which the previous version of the service continues. */
  buildErrors: z.array(BuildError),
})
export type Overview = z.infer<typeof Overview>

const State = z.object({
  /** Since the start of the process, in seconds. */
  uptime: z.number(),
  /** The memory of the process, in bytes. */
  memory: z.number(),
  /** The time of a short transaction, in milliseconds. Null if the database does not answer. */
  database: z.number().nullable(),
  /** The apps and agents with access, the last active first. */
  agents: z.array(
    z.object({
      name: z.string(),
      /** The e-mail address of the person who has consented. */
      email: z.string(),
      /** Milliseconds since 1970, accurate to a minute. */
      lastActive: z.number(),
    }),
  ),
})
export type State = z.infer<typeof State>

const Issue = z.object({ path: z.string(), message: z.string() })

const CallResult = z.object({
  request: z.object({ method: z.string(), url: z.string(), body: z.string().nullable() }),
  status: z.number(),
  /** In milliseconds. */
  duration: z.number(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** The body as text, and whether the body is longer than the limit. */
  body: z.string(),
  isCut: z.boolean(),
  /** The error, if the contract or the engine declares the error. */
  error: z.object({ code: z.string(), message: z.string(), isDefined: z.boolean() }).nullable(),
})
export type CallResult = z.infer<typeof CallResult>

const Letter = z.object({
  /** The name of the file. The body is at `/outbox/{id}`. */
  id: z.string(),
  to: z.string(),
  subject: z.string(),
  /** Milliseconds since 1970. */
  time: z.number(),
  /** The sign-in code in the subject. */
  code: z.string().nullable(),
})
export type Letter = z.infer<typeof Letter>

const LetterParts = z.object({
  /** The plain text. Null for an e-mail without one. */
  text: z.string().nullable(),
  headers: z.array(z.tuple([z.string(), z.string()])),
})
export type LetterParts = z.infer<typeof LetterParts>

const errors = { NOT_FOUND: {}, BAD_REQUEST: {}, CONFLICT: {} }
const procedure = oc.errors(errors)

export const consoleContract = {
  overview: procedure.output(Overview),
  state: procedure.output(State),
  procedures: {
    list: procedure.output(z.array(ProcedureDescription)),
    /** Validates an input without a call. */
    validate: procedure
      .input(z.object({ operation: z.string(), input: z.unknown().optional() }))
      .output(z.object({ issues: z.array(Issue) })),
    /** Calls the service over REST. `headers` are further headers of the request. `isRecorded`: whether Requests shows the call. */
    call: procedure
      .input(
        z.object({
          operation: z.string(),
          input: z.unknown().optional(),
          caller: CallerChoice,
          headers: z.partialRecord(
            z.enum(['idempotency-key', 'if-match', 'accept-language']),
            z.string().max(MAX_TEXT),
          ),
          isRecorded: z.boolean().default(true),
        }),
      )
      .output(CallResult),
  },
  people: {
    /** Creates a link that signs a sample person in to the page. The link works once, for a minute. */
    signIn: procedure.input(z.object({ person: SamplePerson })).output(z.object({ url: z.url() })),
    /** Lists the addresses of people by their ids. */
    emails: procedure
      .input(z.object({ ids: z.array(z.string().max(MAX_TEXT)).max(MAX_IDS) }))
      .output(z.array(z.object({ id: z.string(), email: z.string() }))),
  },
  /** Records requests and live updates until the last watcher leaves. Yields what was recorded, and then what is new. */
  watch: procedure.output(eventIterator(RecordedBatch)),
  statements: {
    /** Returns how PostgreSQL executes a recorded statement. Executes nothing, and accepts no SQL from a client. */
    explain: procedure.input(z.object({ id: z.uuid() })).output(Plan),
  },
  live: liveContractOf(CallerChoice),
  outbox: {
    /** The newest letters first, at most 100. Null if a mail server sends the e-mails. */
    list: procedure.output(z.array(Letter).nullable()),
    get: procedure.input(z.object({ id: z.string() })).output(LetterParts),
  },
  jobs: jobsContract,
  data: dataContract,
}
