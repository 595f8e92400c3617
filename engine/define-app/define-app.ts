import { type AnyContractRouter, isContractProcedure } from '@orpc/contract'
import type { Router, UnlaziedRouter } from '@orpc/server'
import {
  type DataOf,
  type EngineContract,
  type ExportPart,
  type ExportPartsOf,
  isId,
  limitsOf,
  metaOf,
  type RateLimit,
  toId,
} from 'tallystick-contract/internal'

import { combine, type PersonalData } from './db/personal-data.ts'
import type { Context } from './context.ts'
import { isGuarded } from './guard/index.ts'
import { listKeysOfPerson } from './live/keys.ts'
import { type Declared, mistakesOfProcedure } from './mistakes/procedures.ts'
import { mistakesOfSchemas } from './mistakes/schemas.ts'
import { suggest } from './mistakes/suggestions.ts'
import { mistakesOfTopics } from './mistakes/topics.ts'
import { mistakesOfTypes } from './mistakes/types.ts'
import { createEngineResources } from './procedures/index.ts'
import { collectRateLimits, rateLimits } from './rate-limits.ts'
import type { App, Resource, Resources } from './resource.ts'
import { resourcesOfScope } from './scope-resources.ts'

/** The contracts of the procedures, by the names of the resource and of the procedure. */
type ContractsByName = Readonly<Record<string, Readonly<Record<string, AnyContractRouter>>>>

/** An application adds its own resources to the resources of the engine. */
type AppContract = EngineContract & ContractsByName

/** The procedures of a resource: each has the contract with its name. */
type Implementation<Contract> = Contract extends AnyContractRouter ? Router<Contract, Context> : never

/**
 * The resources that an application adds. A resource has personal data if and only if the export has a part for the
 * resource.
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
  'name' | 'version' | 'license' | 'description' | 'migrationsFolder'
> {
  /** Derived from the name by default. A later change of the id ends all sessions, and changes the addresses of MCP. */
  id?: string
  /** The id by default. */
  cookiePrefix?: string
  contract: Contract
  resources: ResourcesOf<Contract>
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
  ...definition
}: Definition<Contract>): App<Contract, RouterOf<Contract>> {
  const declared: Resources = { ...definition.resources, ...createEngineResources(contract) }
  // The order of the contract is the order of documents and lists.
  const entries = Object.keys(contract).flatMap((name): [string, Resource][] =>
    declared[name] ? [[name, declared[name]]] : [],
  )
  const resources = Object.fromEntries(entries)
  const { exports = [] } = metaOf(contract.account.export)
  const topics = metaOf(contract.live.watch).watches ?? []
  const watches = Object.values(resources).flatMap(({ watch }) => watch ?? [])
  const { name, id = toId(name), cookiePrefix = id } = definition
  const mistakes = [
    ...mistakesOfNames(name, id, cookiePrefix),
    ...mistakesOfContract(contract, declared),
    ...mistakesOfSchemas(contract),
    ...mistakesOfTypes(contract),
    ...mistakesOfExport(exports, resources),
    ...findMistakes(resources),
  ]
  if (mistakes.length > 0) throw new Error(['The application has mistakes:', ...mistakes].join('\n- '))
  return {
    ...definition,
    id,
    cookiePrefix,
    contract,
    resources,
    router: Object.fromEntries(
      entries.map(([name, { procedures }]) => [name, procedures]),
    ) as RouterOf<Contract>,
    personalData: {
      ...combine(exports.flatMap((name) => resources[name]?.personalData ?? [])),
      listKeys: (db, person) => listKeysOfPerson(topics, watches, db, person),
    },
    rateLimits: collectRateLimits(contract),
    scopeResources: {
      read: resourcesOfScope(resources, 'read'),
      write: resourcesOfScope(resources, 'write'),
    },
  }
}

function mistakesOfNames(name: string, id: string, cookiePrefix: string) {
  const isDerived = id === toId(name)
  return [
    ...(isId(id)
      ? []
      : [
          isDerived
            ? `The name ${name} must begin with a letter from A to Z, or the application needs an \`id\``
            : `The id ${id} must consist of lower-case letters, digits and single hyphens, and begin with a letter`,
        ]),
    ...(isId(cookiePrefix) ? [] : [`The prefix of cookies ${cookiePrefix} must have the form of an id`]),
  ]
}

/** Compares the resources with the contract, and finds procedures without the guard. */
function mistakesOfContract(contract: ContractsByName, declared: Resources) {
  const mistakesOf = (name: string, { procedures }: Resource) =>
    Object.entries(procedures).flatMap(([key, procedure]) => {
      const expected = contract[name]?.[key]
      const isOther = !isContractProcedure(expected) || expected['~orpc'].route !== procedure['~orpc'].route
      return [
        ...(isOther ? [`${name}.${key} implements another contract`] : []),
        ...(isGuarded(procedure) ? [] : [`${name}.${key}: no guard; use withCaller or withoutCaller`]),
      ]
    })
  return [
    ...Object.keys(contract).flatMap((name) =>
      declared[name] ? [] : [`No resource implements ${name}${suggest(name, Object.keys(declared))}`],
    ),
    ...Object.entries(declared).flatMap(([name, resource]) =>
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

/** Returns a sentence for each mistake. */
export function findMistakes(resources: Resources): string[] {
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
    ...mistakesOfLimits(all),
  ]
}

const mistakesOfResource = (name: string, { datastar, procedures }: Resource) =>
  Object.keys(datastar?.patches ?? {}).flatMap((key) =>
    key in procedures
      ? []
      : [
          `${name}: there is a patch for ${key}, but no such procedure${suggest(key, Object.keys(procedures))}`,
        ],
  )

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
    const isAdded = isAlternative(declared)
    const rival = all
      .slice(0, index)
      .find((other) => isAlternative(other) === isAdded && requestOf(other) === requestOf(declared))
    const main = all.find((other) => !isAlternative(other) && placeOf(other) === placeOf(declared))
    return [
      ...(rival ? [`${declared.operation} and ${rival.operation} answer the same requests`] : []),
      ...(isAdded && !main ? [`${declared.operation}: no procedure has the same method and path`] : []),
    ]
  })
}

function mistakesOfLimits(all: readonly Declared[]) {
  const limits = new Map<string, RateLimit>(Object.entries(rateLimits))
  return all
    .flatMap(({ procedure }) => limitsOf(metaOf(procedure)))
    .flatMap((limit) => {
      const known = limits.get(limit.name) ?? limit
      limits.set(limit.name, known)
      return known === limit ? [] : [`Two rate limits have the name ${limit.name}`]
    })
}
