import type { AnyContractRouter } from '@orpc/contract'
import type { ClientOf, EngineContract } from 'tallystick-contract/internal'

import type { App } from 'tallystick/internal/app/resource'
import type { AnyCall, AnyCase, AnyCases, Cases, Own, People } from './cases.ts'

/** Exists only for the compiler: a file of `test/cases/` must have its cases from `casesOf`, which checks them. */
declare const isOfResource: unique symbol

/** The key of collected cases, which `toAnyCases` recognizes. */
const collected: unique symbol = Symbol('cases')

/** The cases of one resource, from `casesOf`. */
export interface ResourceCases extends AnyCases {
  readonly [isOfResource]: true
}

/** The cases of all resources, from `collectCases`. */
export interface CollectedCases {
  readonly [collected]: AnyCases
}

/** Returns the cases without the types of an application. The cases are collected from files, or written as one object. */
export const toAnyCases = (cases: CollectedCases | AnyCases): AnyCases =>
  collected in cases ? cases[collected] : cases

/** Cases of one resource whose `prepare` can be called by tests, and by the cases of resources within this resource. */
type PreparedCases<Contract extends AnyContractRouter, Fixture> = Omit<ResourceCases, 'prepare'> & {
  prepare: (people: People<ClientOf<Contract>>, text: string) => Promise<Fixture>
}

/**
 * Declares the cases of one resource, in a file of its own. The compiler names a missing call or error, and the
 * laws name a field of an input that no call uses. `prepare` runs after those of the resources before in the alphabet, and can
 * create rows of other resources, too.
 *
 * @example
 * export const cases = casesOf(app, 'ideas', {
 *   prepare: async ({ ada }, text) => ({ idea: await ada.ideas.create({ title: text }) }),
 *   calls: { 'ideas.list': ({ ideas }) => ideas.list() },
 *   errors: {},
 * })
 */
export const casesOf = <
  Contract extends EngineContract & AnyContractRouter,
  const Name extends Own<Contract>,
  Fixture,
>(
  _app: App<Contract>,
  _resource: Name,
  cases: Cases<NoInfer<Contract>, Fixture, NoInfer<Name>>,
): PreparedCases<Contract, Fixture> => cases as AnyCases as PreparedCases<Contract, Fixture>

/**
 * Collects the cases of all resources for `laws`, by the names of their files.
 *
 * @example
 * laws(app, collectCases(import.meta.glob<ResourceCases>('./cases/*.ts', { eager: true, import: 'cases' })))
 */
export function collectCases(files: Readonly<Record<string, ResourceCases>>): CollectedCases {
  const scoped = Object.entries(files).map(([file, cases]) => withFixture(file, cases))
  const cases: AnyCases = {
    prepare: async (people, text) => {
      const fixtures: Record<string, unknown> = {}
      for (const [file, { prepare }] of Object.entries(files)) fixtures[file] = await prepare(people, text)
      return fixtures
    },
    calls: join(scoped.map(({ calls }) => calls)),
    errors: join(scoped.map(({ errors }) => errors)),
    forbidden: join(scoped.map(({ forbidden }) => forbidden)),
    relations: join(scoped.map(({ relations }) => relations)),
    shared: join(scoped.map(({ shared }) => shared)),
    volatile: join(scoped.map(({ volatile }) => volatile)),
    unobserved: join(scoped.map(({ unobserved }) => unobserved)),
  }
  return { [collected]: cases }
}

/** Gives the cases of a file the fixture of the file. */
function withFixture(file: string, { calls, errors, forbidden, relations, ...cases }: AnyCases) {
  const fixtureIn = (fixtures: unknown) => (fixtures as Readonly<Record<string, unknown>>)[file]
  const ofCall =
    (call: unknown): AnyCall =>
    (caller, fixtures) =>
      (call as AnyCall)(caller, fixtureIn(fixtures))
  const ofCase =
    (provoke: unknown): AnyCase =>
    (given) =>
      (provoke as AnyCase)({ ...given, fixture: fixtureIn(Reflect.get(given, 'fixture')) })
  return {
    ...cases,
    calls: mapValues(calls, (oneOrMore) => [oneOrMore].flat().map(ofCall)),
    errors: mapValues(errors, ofCase),
    forbidden: mapValues(forbidden ?? {}, (provoke) => provoke && ofCase(provoke)),
    relations: mapValues(relations ?? {}, ({ begin, end }) => ({ begin: ofCase(begin), end: ofCase(end) })),
  }
}

const mapValues = <From, To>(values: Readonly<Record<string, From>>, map: (value: From) => To) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))

/** Joins the cases of several files. Throws if two files have a case for the same procedure. */
function join<Value>(parts: readonly (Readonly<Record<string, Value>> | undefined)[]): Record<string, Value> {
  const joined: Record<string, Value> = {}
  for (const [name, value] of parts.flatMap((part) => Object.entries(part ?? {}))) {
    if (name in joined) throw new Error(`Two files in test/cases have a case for ${name}.`)
    joined[name] = value
  }
  return joined
}
