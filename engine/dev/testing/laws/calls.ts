// Calls procedures, and records what the calls send and receive.

import { ORPCError } from '@orpc/client'
import type { CallContext } from 'tallystick-contract'

import type { AnyCall } from './cases.ts'
import { toPlain } from './values.ts'

/** What a caller receives, over any protocol. */
export interface Answer {
  status: number
  body: unknown
  link: string | undefined
  etag: string | undefined
}

/** A call of the procedure that a law checks, with its answer. */
export interface ObservedCall {
  input: unknown
  answer: Answer
}

type Procedure = (input: unknown, options?: { context: CallContext }) => Promise<unknown>

const isProcedure = (value: unknown): value is Procedure => typeof value === 'function'

/** Returns a client in which `intercept` replaces the procedure with a path. */
export function replaceProcedure(
  client: object,
  [key = '', ...rest]: readonly string[],
  intercept: (procedure: Procedure) => Procedure,
): object {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (name !== key) return member
      if (rest.length > 0) return replaceProcedure(member as object, rest, intercept)
      return isProcedure(member) ? intercept(member) : member
    },
  })
}

/** Returns a client in which `around` runs each call. */
export const aroundCalls = (
  client: object,
  around: (procedure: () => Promise<unknown>, input: unknown) => Promise<unknown>,
): object =>
  new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      return isProcedure(member) || (typeof member === 'object' && member !== null)
        ? aroundCalls(member, around)
        : member
    },
    apply: (target, self, args: unknown[]) =>
      // Not `target.apply(…)`: clients are proxies, in which `apply` would be a procedure with this name.
      around(() => Reflect.apply(target as Procedure, self, args) as Promise<unknown>, args[0]),
  })

/** Returns a client that records the outputs of all calls, in the order of the calls. */
export const recordOutputs = (client: object, outputs: unknown[]) =>
  aroundCalls(client, async (procedure) => {
    const index = outputs.push(undefined) - 1
    const output = await procedure()
    outputs[index] = toPlain(output)
    return output
  })

/** An error that a caller received, and the input of the call, as JSON. */
export interface ReceivedError {
  input: string
  error: string
}

/** Returns a client that records the errors of all calls. */
export const recordErrors = (client: object, errors: ReceivedError[]) =>
  aroundCalls(client, (procedure, input) =>
    procedure().catch((error: unknown) => {
      errors.push({ input: JSON.stringify(toPlain(input) ?? null), error: JSON.stringify(toAnswer(error)) })
      throw error
    }),
  )

/** A header that occurs several times has a list of values. */
const joinValues = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join() : value)

/** In process, the caller receives an unexpected error of a procedure unchanged. Over HTTP, the service answers 500 instead. */
function toAnswer(error: unknown) {
  if (!(error instanceof ORPCError)) return { status: 500, body: { code: 'INTERNAL_SERVER_ERROR' } }
  const { status, code, message, data } = error as ORPCError<string, unknown>
  return { status, body: toPlain({ code, message, data }) }
}

/** Changes the input of a call. `index` counts the calls of the procedure in one run of a case. */
export type ChangeInput = (input: unknown, index: number) => unknown

/**
 * Runs a call of the cases. Records the calls of the procedure with a path, which the case may call several times. Other
 * procedures that the case calls must succeed.
 */
export async function recordCalls(
  call: AnyCall,
  { client, fixture, path }: { client: object; fixture: unknown; path: readonly string[] },
  change: ChangeInput = (input) => input,
): Promise<ObservedCall[]> {
  const recorded: ObservedCall[] = []
  let recordedError: unknown
  const recording = replaceProcedure(client, path, (procedure) => async (original, options) => {
    const input = change(original, recorded.length)
    const reply: NonNullable<CallContext['reply']> = new Map()
    const record = (answer: Pick<Answer, 'status' | 'body'>) =>
      recorded.push({
        input,
        answer: { ...answer, link: joinValues(reply.get('link')), etag: joinValues(reply.get('etag')) },
      })
    try {
      const output = await procedure(input, { context: { ...options?.context, reply } })
      record({ status: 200, body: toPlain(output) })
      return output
    } catch (error) {
      recordedError = error
      record(toAnswer(error))
      throw error
    }
  })
  try {
    await call(recording, fixture)
  } catch (error) {
    // An error of the procedure itself is an answer. Any other error is a mistake of the case.
    if (error !== recordedError) throw error
  }
  return recorded
}
