import type { AnyContractRouter } from '@orpc/contract'
import type { AnyProcedure } from '@orpc/server'
import type { Scope, Topic } from 'tallystick-contract'

import type { Database } from '../db/connection/database.ts'
import type { PersonalData } from '../db/accounts/personal-data.ts'
import { MAIL_QUEUE } from '../db/jobs/tables.ts'
import type { Person } from '../db/accounts/users.ts'
import type { Caller } from '../call/caller.ts'
import type { Context } from '../call/context.ts'
import type { GuardedResource } from '../call/items.ts'
import type { TextByLanguage } from '../texts/catalogues.ts'
import type { Endpoints } from './endpoint.ts'
import type { StartHook } from './hooks.ts'
import type { Jobs } from './job.ts'
import { hasMails, type MailTemplates } from './mail-template.ts'
import type { RateLimits } from './rate-limits.ts'
import type { SignIn, SignUpHook } from './sign-in.ts'

/**
 * The procedures of a resource, and what the engine must know of the resource.
 *
 * @example
 * export const visits = { description: 'The visits.', procedures } satisfies Resource
 */
export interface Resource extends GuardedResource {
  /** A sentence for the OpenAPI document. */
  description: string
  /** The names for the consent page. By default, the English name consists of the words of the name in the contract. */
  names?: TextByLanguage
  procedures: Readonly<Record<string, AnyProcedure>>
  /** Required if the contract of the resource declares a part of the export (engine/contract/built-in/account.ts). */
  personalData?: PersonalData
  /** Imports the sample data on demand, because only `tallystick seed` needs the data. */
  importSamples?: () => Promise<{ samples: Samples }>
  watch?: Watch
  datastar?: Datastar
  /**
   * Returns whether a body asks for the alternative procedure of a method and path. Two procedures can answer the same method and
   * path, for example two forms of one resource; the body selects (engine/http/protocols/alternatives.ts).
   */
  isRequestedBy?: (body: Readonly<Record<string, unknown>>) => boolean
}

/** The resources by the name of the resource in the contract. */
export type Resources = Readonly<Record<string, Resource>>

/**
 * An application, as `defineApp` assembles it.
 *
 * @example
 * const start = (app: App) => runCommand({ name: app.name, contract, loadApp: () => Promise.resolve(app) })
 */
export interface App<
  Contract extends AnyContractRouter = AnyContractRouter,
  Implementation = Readonly<Record<string, Resource['procedures']>>,
> {
  /** The name that pages, e-mails and the OpenAPI document show. */
  name: string
  /** The name in URIs, in the names of metrics and in the default sender: lower-case letters, digits and hyphens. */
  id: string
  /** Begins the names of the cookies. Cookies of several applications on one host must have different names. */
  cookiePrefix: string
  version: string
  /** The license of the interface, as an SPDX identifier. */
  license?: string | undefined
  /** A sentence about the service, for the OpenAPI document. */
  description: string
  contract: Contract
  /** The folder of the migrations, as drizzle-kit writes the files. */
  migrationsFolder: string
  resources: Resources
  /** The jobs by their names. */
  jobs: Jobs
  /** The templates of e-mails by their names. */
  mails: MailTemplates
  router: Implementation
  endpoints: Endpoints
  /** The personal data of all resources, in the order of the export. */
  personalData: PersonalData
  rateLimits: RateLimits
  /** The names of the resources that an OAuth app with a scope can access. */
  scopeResources: Readonly<Record<Scope, readonly TextByLanguage[]>>
  /**
   * Runs in each process that serves, after the migrations and before the first request. An error ends the start. The returned
   * function runs after the last answer, and before the database closes.
   */
  onStart?: StartHook | undefined
  /** The providers by which people can sign in, beside the code (docs/doors.md). */
  signIn?: SignIn | undefined
  /**
   * Runs when an account is made, by a code, a provider or an administrator, in the same transaction. An error undoes the account. An
   * `ORPCError` is the answer to the person. Sample accounts have samples instead.
   */
  onSignUp?: SignUpHook | undefined
}

/** The queues of the jobs and the e-mails. */
export const queuesOf = ({ jobs, mails }: Pick<App, 'jobs' | 'mails'>) => [
  ...Object.keys(jobs),
  ...(hasMails(mails) ? [MAIL_QUEUE] : []),
]

/** What the database of an application needs: migrations and queues (engine/db/migrate/). */
export const wantedMigrations = (app: Pick<App, 'migrationsFolder' | 'jobs' | 'mails'>) => ({
  migrationsFolder: app.migrationsFolder,
  queues: queuesOf(app),
})

/**
 * The changes that a stream of a topic receives: changes that are announced (`context.announce`) to the account or the address of the
 * caller, to the accounts of `listOtherOwners`, or to the parents of `listParents`. Both lists are read again before each read of a
 * state.
 */
export interface Watch {
  topic: Topic
  /**
   * Identifies a state that depends on the session. Without it, streams of one account with the same role, scopes and impersonation
   * share a state.
   */
  variantOf?: (caller: Caller) => string
  /** Lists the accounts of other people whose own data a state shows. For members of a parent, use `listParents`. */
  listOtherOwners?: (db: Database, user: Caller['user']) => Promise<readonly string[]>
  /**
   * Lists the ids of the parents whose data a state shows, for example of the projects of a person. Announce a change of a membership
   * to the address of the member, so that the member's stream reads the list again.
   *
   * If the topic has `of`, the client names the parent, and the stream receives only the changes of this parent. The list is then used
   * only when the account of the person is deleted: the deletion is announced to these parents.
   */
  listParents?: (db: Database, person: Person) => Promise<readonly (string | number)[]>
}

/**
 * An update of a Datastar page: the new inner HTML of one element, and new values of signals.
 *
 * @example
 * const patch = ({ visits }: VisitList): Patch => ({ selector: '#visits', html: listHtml(visits), signals: {} })
 */
export interface Patch {
  selector: string
  html: string
  signals: Record<string, unknown>
}

/** What Datastar pages receive instead of JSON (engine/http/protocols/datastar.ts). */
export interface Datastar {
  /** For each procedure that pages can call, the patch to send after the procedure. */
  patches: Readonly<Record<string, (output: never, context: Context) => Patch | Promise<Patch>>>
  /**
   * The topic that pages can watch. `read` replaces the procedure that reads the topic. If the topic has `of`, `patch` receives
   * the parent, for example `{ projectId: 7 }`, and the state null after the caller has lost access to the parent.
   */
  live?: { topic: Topic; read?: AnyProcedure; patch: (state: never, of: never) => Patch }
}

/**
 * The names of the sample accounts.
 *
 * @example
 * const titles: Record<SampleName, string> = { ada: 'The first program', charles: 'The engine' }
 */
export type SampleName = 'ada' | 'charles'

/**
 * The sample data of a resource (src/samples/).
 *
 * @example
 * export const samples: Samples = {
 *   topics: [ideasTopic],
 *   add: async (db, name, people) => void (await ideaRows.insert(db, people[name], { title: titles[name] })),
 * }
 */
export interface Samples {
  /** The topics that show the data. */
  topics: readonly Topic[]
  /** A sentence about the data, for the output of the command. */
  remark?: string
  /** Adds the data of one account. Skips data that already exists. */
  add: (db: Database, name: SampleName, people: Readonly<Record<SampleName, Person>>) => Promise<void>
}
