import type { AnyContractRouter } from '@orpc/contract'
import type { AnyProcedure } from '@orpc/server'
import type { Language, Scope, Topic } from 'tallystick-contract'

import type { Database } from './db/database.ts'
import type { PersonalData } from './db/personal-data.ts'
import type { Rows } from './db/rows/index.ts'
import type { Person } from './db/users.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import type { GuardedResource } from './items.ts'
import type { RateLimits } from './rate-limits.ts'

/** The name of a resource by language. A language without a name has the English name. */
export type ResourceNames = Readonly<Partial<Record<Language, string>> & { en: string }>

/** The procedures of a resource, and what the engine must know of the resource. */
export interface Resource extends GuardedResource {
  /** A sentence for the OpenAPI document. */
  description: string
  /** The names for the consent page. By default, the English name consists of the words of the name in the contract. */
  names?: ResourceNames
  procedures: Readonly<Record<string, AnyProcedure>>
  /** The rows that are the items of the resource. */
  rows?: Pick<Rows, 'table' | 'visibility'>
  /** Required if the contract of the resource declares a part of the export (engine/contract/account.ts). */
  personalData?: PersonalData
  /** Imports the sample data on demand, because only `tallystick seed` needs the data. */
  importSamples?: () => Promise<{ samples: Samples }>
  watch?: Watch
  datastar?: Datastar
  /**
   * Returns whether a body asks for the alternative procedure of a method and path
   * (engine/http/protocols/alternatives.ts).
   */
  isRequestedBy?: (body: Readonly<Record<string, unknown>>) => boolean
}

/** The resources by the name of the resource in the contract. */
export type Resources = Readonly<Record<string, Resource>>

/** An application, as `defineApp` assembles it. */
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
  router: Implementation
  /** The personal data of all resources, in the order of the export. */
  personalData: PersonalData
  rateLimits: RateLimits
  /** The names of the resources that an OAuth app with a scope can access. */
  scopeResources: Readonly<Record<Scope, readonly ResourceNames[]>>
}

/**
 * What the states of a topic depend on, besides the data of the caller and the input. A stream receives the changes that are
 * announced to the caller's account and address, to these accounts and to these parents (`context.announce`). The lists are
 * read again before each read of a state, so a change of a membership is announced to the address of the member.
 */
export interface Watch {
  topic: Topic
  /**
   * Identifies a state that depends on the session. States of one account with the same role, scopes and impersonation are
   * shared otherwise.
   */
  variantOf?: (caller: Caller) => string
  /** Lists the accounts of other people whose own data a state shows. For members of a parent, use `listParents`. */
  listOtherOwners?: (db: Database, user: Caller['user']) => Promise<readonly string[]>
  /**
   * Lists the ids of the parents whose data a state shows, for example of the projects of a person. If the topic has `of`, a
   * state receives only the changes of its own parent: the list then serves only the deletion of an account.
   */
  listParents?: (db: Database, person: Person) => Promise<readonly (string | number)[]>
}

/** An update of a Datastar page: the new inner HTML of one element, and new values of signals. */
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

/** The names of the sample accounts. */
export type SampleName = 'ada' | 'charles'

/** The sample data of a resource (src/samples/). */
export interface Samples {
  /** The topics that show the data. */
  topics: readonly Topic[]
  /** A sentence about the data, for the output of the command. */
  remark?: string
  /** Adds the data of one account. Skips data that already exists. */
  add: (db: Database, name: SampleName, people: Readonly<Record<SampleName, Person>>) => Promise<void>
}
