import { type AnyProcedure, createProcedureClient, ORPCError } from '@orpc/server'
import { metaOf, type Topic } from 'tallystick-contract'

import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { WatchCall } from '../live-stream.ts'
import type { Resources, Watch } from '../resource.ts'
import type { Source } from './shared-state.ts'

/** The key of a change: the topic, and the account that owns the data. */
export const keyOf = ({ name, access }: Topic, owner = '') =>
  access === 'public' ? name : `${name}:${owner}`

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

/** The context for reading a state, without a request. */
type ReadContext = (caller: Caller | undefined) => Context

/**
 * Creates the function that returns where the states of a call come from. A state is the output of a read operation, so that
 * guard, validation and limits are the same as for a call.
 */
export function createSources(resources: Resources, contextFor: ReadContext) {
  const readers = findReaders(resources)

  const sourceOf = (name: string, { caller, input, isDatastar }: WatchCall): Source => {
    const reader = readers.get(name)
    if (!reader) throw new Error(`No procedure reads the topic ${name}`)
    const { topic } = reader
    const procedure = isDatastar ? reader.readForDatastar : reader.read
    const isView = procedure !== reader.read
    const state = { topic: name, isPrivate: topic.access !== 'public' }
    if (!state.isPrivate) {
      const read = readWith(procedure, () => contextFor(undefined))
      return { ...state, id: JSON.stringify([name, isView]), account: '', key: keyOf(topic), read }
    }
    if (!caller) throw new ORPCError('UNAUTHORIZED')
    const { user } = caller
    const key = keyOf(topic, user.id)
    // A view contains only what the procedure of the view reads.
    const listOtherOwners = isView ? undefined : reader.listOtherOwners
    return {
      ...state,
      id: JSON.stringify([key, input[name] ?? {}, reader.variantOf?.(caller), isView]),
      account: user.id,
      key,
      maxStates: topic.input && (caller.scopes ? MAX_INPUTS / 2 : MAX_INPUTS),
      otherKeys:
        listOtherOwners &&
        (async () => {
          const owners = await listOtherOwners(contextFor(caller).db, user)
          return owners.map((id) => keyOf(topic, id))
        }),
      read: readWith(procedure, () => contextFor(caller), input[name]),
    }
  }

  return (call: WatchCall) => call.topics.map((name) => sourceOf(name, call))
}

const readWith = (procedure: AnyProcedure, createContext: () => Context, input?: unknown) => {
  const path = ['live', 'watch']
  return (): Promise<unknown> => createProcedureClient(procedure, { context: createContext(), path })(input)
}
