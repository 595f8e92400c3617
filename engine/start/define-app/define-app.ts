import { type AnyContractRouter, isContractProcedure } from '@orpc/contract'
import type { Router, UnlaziedRouter } from '@orpc/server'
import {
  type DataOf,
  type EngineContract,
  type ExportPart,
  type ExportPartsOf,
  metaOf,
  toId,
} from 'tallystick-contract/internal'

import { combine, type PersonalData } from '../../db/accounts/personal-data.ts'
import type { AppMiddleware } from '../../app/hooks.ts'
import type { Context } from '../../call/context.ts'
import { isGuarded } from '../../guard/index.ts'
import { listKeysOfPerson } from '../../live/keys.ts'
import { mistakesOfEndpoints } from './mistakes/endpoints.ts'
import { type Declared, mistakesOfProcedure } from './mistakes/procedures.ts'
import { personalDataOfJobs, personalDataOfProviders } from './personal-data.ts'
import { mistakesOfJobs } from './mistakes/jobs.ts'
import { mistakesOfLimits } from './mistakes/limits.ts'
import { mistakesOfNames } from './mistakes/names.ts'
import { mistakesOfSignIn } from './mistakes/sign-in.ts'
import { mistakesOfSchemas } from './mistakes/schemas.ts'
import { mapValues } from './map-procedures.ts'
import { withMiddlewares } from './middleware.ts'
import { suggest } from './mistakes/suggestions.ts'
import { mistakesOfTopics } from './mistakes/topics.ts'
import { mistakesOfTypes } from './mistakes/types.ts'
import { createEngineResources } from '../../procedures/index.ts'
import type { Jobs } from '../../app/job.ts'
import type { MailTemplates } from '../../app/mail-template.ts'
import type { Endpoints } from '../../app/endpoint.ts'
import { collectRateLimits } from '../../app/rate-limits.ts'
import type { App, Resource, Resources } from '../../app/resource.ts'
import { leaveRows } from '../../procedures/rows/leaving.ts'
import { resourcesOfScope } from '../../app/scope-resources.ts'

/** The contracts of the procedures, by the names of the resource and of the procedure. */
type ContractsByName = Readonly<Record<string, Readonly<Record<string, AnyContractRouter>>>>

/** An application adds its own resources to the resources of the engine. */
type AppContract = EngineContract & ContractsByName

/** The procedures of a resource: each has the contract with its name. */
type Implementation<Contract> = Contract extends AnyContractRouter ? Router<Contract, Context> : never

/**
 * The resources that an application adds. A resource has personal data if and only if the export has a part for the resource.
 */
type ResourcesOf<Contract extends EngineContract, Parts = ExportPartsOf<Contract['account']>> = {
  [Name in Exclude<keyof Contract, keyof EngineContract>]: Resource & {
    procedures: Implementation<Contract[Name]>
  } & (Name extends keyof Parts
      ? { personalData: PersonalData<DataOf<Extract<Parts[Name], ExportPart>>> }
      : { personalData?: never })
}

type RouterOf<Contract extends AnyContractRouter> = UnlaziedRouter<Router<Contract, Context>>

interface Definition<Contract extends AppContract> extends Pick<
  App,
  'name' | 'version' | 'license' | 'description' | 'migrationsFolder' | 'onStart' | 'signIn' | 'onSignUp'
> {
  /** Derived from the name by default. A later change of the id ends all sessions, and changes the addresses of MCP. */
  id?: string
  /** The id by default. */
  cookiePrefix?: string
  contract: Contract
  resources: ResourcesOf<Contract>
  /**
   * Run around the handler of each procedure, the first one outermost: after the guard, and within the validation of input and
   * output. Without middlewares, the statement of the handler can check a permission. With a middleware, the guard checks each
   * permission in a statement of its own, before the middleware runs.
   */
  middlewares?: readonly AppMiddleware[]
  /** Work that runs after a transaction, or at times (docs/jobs.md). The name of a job must stay the same while jobs wait. */
  jobs?: Jobs
  /** The templates of the e-mails that the application sends. */
  mails?: MailTemplates
  endpoints?: Endpoints
}

/**
 * Assembles an application. Throws an error that names every mistake that the types do not show.
 *
 * @example
 * export const app = defineApp({
 *   name: 'Library',
 *   version: '1.0.0',
 *   description: 'Books and loans.',
 *   contract,
 *   migrationsFolder,
 *   resources: { books, loans },
 * })
 */
export function defineApp<Contract extends AppContract>({
  contract,
  middlewares = [],
  jobs = {},
  mails = {},
  endpoints = {},
  ...definition
}: Definition<Contract>): App<Contract, RouterOf<Contract>> {
  const unordered: Resources = { ...definition.resources, ...createEngineResources(contract) }
  // The order of the contract is the order of documents and lists.
  const entries = Object.keys(contract).flatMap((key): [string, Resource][] =>
    unordered[key] ? [[key, unordered[key]]] : [],
  )
  const resources = mapValues(Object.fromEntries(entries), withMiddlewares(middlewares))
  const { exports = [] } = metaOf(contract.account.export)
  const topics = metaOf(contract.live.watch).watches ?? []
  const watches = Object.values(resources).flatMap(({ watch }) => watch ?? [])
  const { name, id = toId(name), cookiePrefix = id } = definition
  const mistakes = [
    ...mistakesOfNames(name, id, cookiePrefix),
    ...mistakesOfContract(contract, unordered),
    ...mistakesOfSchemas(contract),
    ...mistakesOfTypes(contract),
    ...mistakesOfExport(exports, resources),
    ...findMistakes(resources, endpoints),
    ...mistakesOfJobs(jobs),
    ...mistakesOfSignIn(definition.signIn),
  ]
  if (mistakes.length > 0) throw new Error(['The application has mistakes:', ...mistakes].join('\n- '))
  return {
    ...definition,
    id,
    cookiePrefix,
    contract,
    resources,
    jobs,
    mails,
    router: mapValues(resources, ({ procedures }) => procedures) as RouterOf<Contract>,
    endpoints,
    personalData: {
      ...combine([
        ...exports.flatMap((key) => resources[key]?.personalData ?? []),
        ...personalDataOfJobs(jobs, mails),
        ...(definition.signIn ? [personalDataOfProviders] : []),
      ]),
      // Before the deletion of an account: ends its part in shared rows. Returns the keys of the states to read again.
      leave: async (tx, person) => [
        ...(await listKeysOfPerson(topics, watches, tx, person)),
        ...(await leaveRows(resources, tx, person)),
      ],
    },
    rateLimits: collectRateLimits(contract, { endpoints, mails }),
    scopeResources: {
      read: resourcesOfScope(resources, 'read'),
      write: resourcesOfScope(resources, 'write'),
    },
  }
}

/** Compares the resources with the contract, and finds procedures without the guard. */
function mistakesOfContract(contract: ContractsByName, resources: Resources) {
  const mistakesOf = (name: string, { procedures }: Resource) =>
    Object.entries(procedures).flatMap(([key, procedure]) => {
      const expected = contract[name]?.[key]
      // A procedure keeps the object `route` of the contract that it implements.
      const isOther = !isContractProcedure(expected) || expected['~orpc'].route !== procedure['~orpc'].route
      return [
        ...(isOther ? [`${name}.${key} implements another contract`] : []),
        ...(isGuarded(procedure) ? [] : [`${name}.${key}: no guard; use withCaller or withoutCaller`]),
      ]
    })
  return [
    ...Object.keys(contract).flatMap((name) =>
      resources[name] ? [] : [`No resource implements ${name}${suggest(name, Object.keys(resources))}`],
    ),
    ...Object.entries(resources).flatMap(([name, resource]) =>
      contract[name]
        ? mistakesOf(name, resource)
        : [`The contract has no ${name}${suggest(name, Object.keys(contract))}`],
    ),
  ]
}

/** `exported` has the names of the resources with a part in the export. */
function mistakesOfExport(exported: readonly string[], resources: Resources) {
  const stored = Object.keys(resources).filter((name) => resources[name]?.personalData)
  return [
    ...exported
      .filter((name) => !stored.includes(name))
      .map((name) => `${name}: the export needs personal data`),
    ...stored
      .filter((name) => !exported.includes(name))
      .map((name) => `${name}: the export has no part for the personal data`),
  ]
}

/** Returns a sentence for each mistake in resources and endpoints. `defineApp` adds those of jobs, sign-in and exports. */
export function findMistakes(resources: Resources, endpoints: Endpoints = {}): string[] {
  const entries = Object.entries(resources)
  const all = entries.flatMap(([name, resource]) =>
    Object.entries(resource.procedures).map(([key, procedure]) => ({
      operation: `${name}.${key}`,
      resource,
      resources,
      procedure,
    })),
  )
  return [
    ...all.flatMap(mistakesOfProcedure),
    ...entries.flatMap(([name, resource]) => mistakesOfResource(name, resource)),
    ...mistakesOfTopics(all, Object.values(resources)),
    ...mistakesOfPaths(all),
    ...mistakesOfEndpoints(endpoints, all),
    ...mistakesOfLimits(all, endpoints),
  ]
}

const mistakesOfResource = (name: string, { datastar, procedures, rows }: Resource) => [
  ...Object.keys(datastar?.patches ?? {}).flatMap((key) =>
    key in procedures
      ? []
      : [
          `${name}: there is a patch for ${key}, but no such procedure${suggest(key, Object.keys(procedures))}`,
        ],
  ),
  ...(rows?.visibility.members?.ownerLeaves === 'refuse' &&
  !Object.values(procedures).some((procedure) => metaOf(procedure).grantsAccess)
    ? [
        `${name}: the rows refuse the deletion of their owner, but no procedure uses the builder \`sharing\`, which declares the error. Use \`sharing\`, or set \`ownerLeaves\` to \`delete\` or \`transfer\``,
      ]
    : []),
]

/** Two procedures can have the same method and path only if one of them is an alternative. */
function mistakesOfPaths(all: readonly Declared[]) {
  const isAlternative = ({ procedure }: Declared) => metaOf(procedure).alternative !== undefined
  const placeOf = ({ operation, procedure }: Declared) => {
    const { method = 'POST', path = operation } = procedure['~orpc'].route
    return `${method} ${path}`
  }
  /** Requests do not show the names of parameters. */
  const requestOf = (declared: Declared) => placeOf(declared).replace(/\{\w+\}/g, '{}')
  return all.flatMap((declared, index) => {
    const alternative = isAlternative(declared)
    const duplicate = all
      .slice(0, index)
      .find((other) => isAlternative(other) === alternative && requestOf(other) === requestOf(declared))
    const main = all.find((other) => !isAlternative(other) && placeOf(other) === placeOf(declared))
    return [
      ...(duplicate ? [`${declared.operation} and ${duplicate.operation} answer the same requests`] : []),
      ...(alternative && !main ? [`${declared.operation}: no procedure has the same method and path`] : []),
    ]
  })
}
