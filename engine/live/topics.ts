import { type AnyProcedure, createProcedureClient, ORPCError } from '@orpc/server'
import { metaOf, type Topic } from 'tallystick-contract/internal'

import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { WatchCall } from '../live-stream.ts'
import type { Resources, Watch } from '../resource.ts'
import { identify } from '../guard/fingerprint.ts'
import { keyOf } from './keys.ts'
import type { Source } from './shared-state.ts'

/**
 * Maximum number of different inputs of a topic in the streams of one person. An app can add an input only up to half of
 * this number, so that the page of the person can still add its inputs.
 */
const MAX_INPUTS = 8

/** A topic, and the procedures that read its state. */
interface Reader extends Omit<Watch, 'topic'> {
  topic: Topic
  read: AnyProcedure
  readForDatastar: AnyProcedure
}

/** Returns the readers of all topics by the name of the topic. */
function findReaders(resources: Resources) {
  const all = Object.values(resources)
  const watches = all.flatMap(({ watch }) => watch ?? [])
  const liveViews = all.flatMap(({ datastar }) => datastar?.live ?? [])
  const readers = all.flatMap(({ procedures }) =>
    Object.values(procedures).flatMap((read): Reader[] => {
      const { reads: topic } = metaOf(read)
      if (!topic) return []
      const readForDatastar = liveViews.find((view) => view.topic === topic)?.read ?? read
      return [{ ...watches.find((watch) => watch.topic === topic), topic, read, readForDatastar }]
    }),
  )
  return new Map(readers.map((reader) => [reader.topic.name, reader]))
}

/**
 * Identifies what a state can depend on, besides the topic and its input: the account, and what decides about access. Only
 * streams with the same principal share a state.
 */
export const principalOf = ({ user, session, scopes }: Caller) =>
  JSON.stringify([
    user.id,
    user.name,
    user.email,
    user.emailVerified,
    user.role,
    session.impersonatedBy,
    scopes,
  ])

/** The context for reading a state, without a request. */
type ReadContext = (caller: Caller | undefined) => Context

/**
 * Creates the function that returns where the states of a call come from. A state is the output of a read operation, so that
 * guard, validation and limits are the same as for a call.
 */
export function createSources(resources: Resources, contextFor: ReadContext) {
  const readers = findReaders(resources)

  const sourceOf = (name: string, { caller, input, given, isDatastar }: WatchCall): Source => {
    const reader = readers.get(name)
    if (!reader) throw new Error(`No procedure reads the topic ${name}`)
    const { topic } = reader
    const procedure = isDatastar ? reader.readForDatastar : reader.read
    const isView = procedure !== reader.read
    const contract = procedure['~orpc']
    const state = { topic: name, isPrivate: topic.access !== 'public', contract }
    if (!state.isPrivate) {
      const read = readWith(procedure, () => contextFor(undefined))
      return { ...state, id: JSON.stringify([name, isView]), account: '', key: name, read }
    }
    if (!caller) throw new ORPCError('UNAUTHORIZED')
    const { user } = caller
    const { variantOf, listOtherOwners, listParents } = reader
    const otherKeys = async () => {
      const { db } = contextFor(caller)
      const owners = (await listOtherOwners?.(db, user)) ?? []
      const parents = (await listParents?.(db, user)) ?? []
      return [
        ...owners.map((person) => keyOf(topic, { person })),
        ...parents.map((parent) => keyOf(topic, { parent })),
      ]
    }
    return {
      ...state,
      id: JSON.stringify([principalOf(caller), variantOf?.(caller), identify(input[name]), isView]),
      account: user.id,
      key: keyOf(topic, { person: user.id }),
      addressKey: keyOf(topic, { address: user.email }),
      maxStates: topic.input && (caller.scopes ? MAX_INPUTS / 2 : MAX_INPUTS),
      otherKeys: listOtherOwners || listParents ? otherKeys : undefined,
      read: readWith(procedure, () => contextFor(caller), given[name]),
    }
  }

  return (call: WatchCall) => call.topics.map((name) => sourceOf(name, call))
}

const readWith = (procedure: AnyProcedure, createContext: () => Context, input?: unknown) => {
  const path = ['live', 'watch']
  return (): Promise<unknown> => createProcedureClient(procedure, { context: createContext(), path })(input)
}
