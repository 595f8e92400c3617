import type { AnyProcedure } from '@orpc/server'

import type { ExportedData } from '../contract/index.ts'
import { metaOf, type RateLimit, type Topic } from '../contract/meta.ts'
import { combine, type PersonalData } from '../db/personal-data.ts'
import { rateLimits } from './rate-limits.ts'
import type { Resource, Resources } from './resource.ts'

/** An application: its resources, and what the service derives from them. */
export interface App<All extends Resources = Resources> {
  resources: All
  router: { [Name in keyof All]: All[Name]['procedures'] }
  /** The personal data of all resources, in the order of the export. */
  personalData: PersonalData<ExportedData>
}

/**
 * Assembles an application. `exportParts` contains the parts of the export, in the order of the export. Throws an error
 * that names every mistake that the types do not show.
 */
export function defineApp<All extends Resources>({
  resources,
  exportParts,
}: {
  resources: All
  exportParts: object
}): App<All> {
  const mistakes = findMistakes(resources)
  if (mistakes.length > 0) throw new Error(['The application has mistakes:', ...mistakes].join('\n- '))
  const entries = Object.entries<Resource>(resources)
  return {
    resources,
    router: Object.fromEntries(
      entries.map(([name, { procedures }]) => [name, procedures]),
    ) as App<All>['router'],
    personalData: combine(
      Object.keys(exportParts).flatMap((name) => (resources as Resources)[name]?.personalData ?? []),
    ) as PersonalData<ExportedData>,
  }
}

/** A procedure with the resource that it belongs to. */
interface Declared {
  operation: string
  resource: Resource
  procedure: AnyProcedure
}

/** Returns a sentence for each mistake. */
export function findMistakes(resources: Resources): string[] {
  const entries = Object.entries(resources)
  const all = entries.flatMap(([name, resource]) =>
    Object.entries(resource.procedures).map(([key, procedure]) => ({
      operation: `${name}.${key}`,
      resource,
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

function mistakesOfProcedure({ operation, resource: { items }, procedure }: Declared) {
  const { action, ifMatch } = metaOf(procedure)
  const isPermitted =
    action === undefined ||
    Object.values(items?.permissions ?? {})
      .flat()
      .includes(action)
  return [
    ...(isPermitted ? [] : [`${operation}: no relation permits the action ${action}`]),
    ...(ifMatch && !items?.ifMatch ? [`${operation}: the resource has no entity tag for If-Match`] : []),
  ]
}

const mistakesOfResource = (name: string, { datastar, procedures }: Resource) =>
  Object.keys(datastar?.patches ?? {}).flatMap((key) =>
    key in procedures ? [] : [`${name}: there is a patch for ${key}, but no such procedure`],
  )

function mistakesOfTopics(all: readonly Declared[], resources: readonly Resource[]) {
  const readersOf = (topic: Topic) => all.filter(({ procedure }) => metaOf(procedure).reads === topic)
  const used = new Set([
    ...all.flatMap(({ procedure }) => metaOf(procedure).updates ?? []),
    ...resources.flatMap(({ watch, datastar }) => [watch?.topic ?? [], datastar?.live?.topic ?? []].flat()),
  ])
  return [...used].flatMap((topic) => {
    const count = readersOf(topic).length
    return count === 1 ? [] : [`The topic ${topic.name} is read by ${count} procedures, instead of one`]
  })
}

const ALTERNATIVE = ' (alternative)'

/** Two procedures can have the same method and path only if one of them is an alternative. */
function mistakesOfPaths(all: readonly Declared[]) {
  const keyOf = ({ procedure }: Declared) => {
    const { method = 'POST', path = '' } = procedure['~orpc'].route
    const kind = metaOf(procedure).alternative ? ALTERNATIVE : ''
    return `${method} ${path.replace(/\{\w+\}/g, '{}')}${kind}`
  }
  const byKey = new Map<string, Declared[]>()
  for (const each of all) byKey.set(keyOf(each), [...(byKey.get(keyOf(each)) ?? []), each])
  return [...byKey].flatMap(([key, same]) => [
    ...(same.length > 1
      ? [`${key}: several procedures: ${same.map(({ operation }) => operation).join(', ')}`]
      : []),
    ...(key.endsWith(ALTERNATIVE) && !byKey.has(key.replace(ALTERNATIVE, ''))
      ? [`${key}: there is no other procedure`]
      : []),
  ])
}

function mistakesOfLimits(all: readonly Declared[]) {
  const limits = new Map<string, RateLimit>(Object.entries(rateLimits))
  return all.flatMap(({ procedure }) => {
    const { rateLimit } = metaOf(procedure)
    if (!rateLimit) return []
    const known = limits.get(rateLimit.name) ?? rateLimit
    limits.set(rateLimit.name, known)
    return known === rateLimit ? [] : [`Two rate limits have the name ${rateLimit.name}`]
  })
}
