import type { AnyContractProcedure, AnyContractRouter } from '@orpc/contract'
import { isContractProcedure } from '@orpc/contract'

/** An id that no item has. */
const NIL_UUID = '00000000-0000-0000-0000-000000000000'

const pathOf = (procedure: AnyContractProcedure) => procedure['~orpc'].route.path ?? ''

const proceduresOf = (router: AnyContractRouter): AnyContractProcedure[] =>
  isContractProcedure(router) ? [router] : Object.values(router).flatMap(proceduresOf)

/** Maximum length of a percent-encoded parameter. Longer ids could exceed the limit of a URL. */
const MAX_LENGTH = 2000

/** `.` or `..` between separators, also percent-encoded: the service refuses such paths. */
const DOT_SEGMENT =
  /(?:^|[/\\;]|%(?:25)*(?:2f|5c|3b))(?:\.|%(?:25)*2e){1,2}(?=$|[/\\;]|%(?:25)*(?:2f|5c|3b))/i

/** Characters that the service refuses in URLs: NUL, and halves of characters. */
const REFUSED = /[\0\p{Surrogate}]/u

/** Returns whether a URL can contain a value: a number, a boolean, a bigint, a time, or a text of these lengths and characters. */
function isPlain(value: unknown) {
  if (['number', 'boolean', 'bigint'].includes(typeof value) || value instanceof Date) return true
  const text = value instanceof URL ? value.href : value
  return (
    typeof text === 'string' &&
    !REFUSED.test(text) &&
    !DOT_SEGMENT.test(text) &&
    encodeURIComponent(text).length <= MAX_LENGTH
  )
}

/** Returns the procedure with a name such as `['books', 'update']`. Undefined if the contract has no such procedure. */
export function findProcedure(contract: AnyContractRouter, operation: readonly string[]) {
  const found = operation.reduce<unknown>(
    (member, name): unknown => Reflect.get(Object(member), name),
    contract,
  )
  return isContractProcedure(found) ? found : undefined
}

/**
 * Creates a function that replaces the path parameters of an input that a URL cannot contain as an id. The URL could be
 * the path of another procedure, for example with the id `reset` in `/api/books/{id}`, or another path, with the id `..`.
 * The replacement is an id that no item has, so that the service answers 404, or 400 if ids are numbers.
 */
export function createParameterGuard(contract: AnyContractRouter) {
  const paths = proceduresOf(contract).map(pathOf)
  /** Returns the segments that the paths have after a prefix. */
  const segmentsAfter = (prefix: string) =>
    paths.flatMap((path) =>
      path.startsWith(prefix) ? (path.slice(prefix.length).split('/', 1)[0] ?? '') : [],
    )
  /** The parameters of each path, with the values that would make the URL another path. */
  const parameters = new Map(
    paths.map((path) => [
      path,
      Array.from(path.matchAll(/\{(\w+)\}/g), ({ 1: name = '', index }) => ({
        name,
        // An empty value would shorten the URL to another path.
        reserved: new Set<unknown>(['', ...segmentsAfter(path.slice(0, index))]),
      })),
    ]),
  )

  return (operation: readonly string[], input: unknown) => {
    const procedure = findProcedure(contract, operation)
    if (typeof input !== 'object' || input === null || !procedure) return input
    const given: Readonly<Record<string, unknown>> = { ...input }
    const replaced = (parameters.get(pathOf(procedure)) ?? []).flatMap(({ name, reserved }) =>
      reserved.has(given[name]) || !isPlain(given[name]) ? [[name, NIL_UUID] as const] : [],
    )
    return replaced.length > 0 ? { ...given, ...Object.fromEntries(replaced) } : input
  }
}
