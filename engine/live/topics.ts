import { type AnyProcedure, createProcedureClient, ORPCError } from '@orpc/server'
import { metaOf, type Topic } from 'tallystick-contract/internal'

import type { Caller } from '../call/caller.ts'
import type { Context } from '../call/context.ts'
import type { WatchCall } from '../call/live-stream.ts'
import type { Resources, Watch } from '../app/resource.ts'
import { identify } from '../guard/fingerprint.ts'
import { keyOf, nameOfState } from './keys.ts'
import type { Source } from './source.ts'

/**
 * Maximum number of different inputs of a topic in the streams of one person. An app can add an input only up to half of
 * this number, so that the page of the person can still add its inputs.
 */
const MAX_INPUTS = 8
/** The same for a topic of parents: the pages of a person show several parents at once, each with its filter. */
const MAX_INPUTS_OF_PARENTS = 32

/** A topic, and the procedures that read its state. */
interface Reader extends Omit<Watch, 'topic'> {
  topic: Topic
  /** The names of the resource and of the procedure that reads. */
  path: readonly [resource: string, procedure: string]
  read: AnyProcedure
  readForDatastar: AnyProcedure
}

/** Returns the readers of all topics by the name of the topic. */
function findReaders(resources: Resources) {
  const all = Object.values(resources)
  const watches = all.flatMap(({ watch }) => watch ?? [])
  const liveViews = all.flatMap(({ datastar }) => datastar?.live ?? [])
  const readers = Object.entries(resources).flatMap(([resource, { procedures }]) =>
    Object.entries(procedures).flatMap(([name, read]): Reader[] => {
      const { reads: topic } = metaOf(read)
      if (!topic) return []
      const readForDatastar = liveViews.find((view) => view.topic === topic)?.read ?? read
      const path = [resource, name] as const
      return [{ ...watches.find((watch) => watch.topic === topic), topic, path, read, readForDatastar }]
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

  /** `input` and `given`: the input of the topic after and before its validation. */
  const sourceOf = (topicName: string, input: unknown, given: unknown, call: WatchCall): Source => {
    const { caller, isDatastar } = call
    const reader = readers.get(topicName)
    if (!reader) throw new Error(`No procedure reads the topic ${topicName}`)
    const { topic } = reader
    const procedure = isDatastar ? reader.readForDatastar : reader.read
    const isView = procedure !== reader.read
    const contract = procedure['~orpc']
    const { of, parent } = parentOf(topic, input)
    const common = {
      topic: topicName,
      of,
      name: nameOfState(topic, parent),
      isPrivate: topic.access !== 'public',
      contract,
    }
    if (!common.isPrivate) {
      const read = readWith(procedure, reader.path, () => contextFor(undefined))
      return { ...common, id: JSON.stringify([topicName, isView]), account: '', key: topicName, read }
    }
    if (!caller) throw new ORPCError('UNAUTHORIZED')
    const { user } = caller
    const { variantOf, listOtherOwners, listParents } = reader
    const maxInputs = of ? MAX_INPUTS_OF_PARENTS : MAX_INPUTS
    const otherKeys = async () => {
      const { db } = contextFor(caller)
      const owners = (await listOtherOwners?.(db, user)) ?? []
      const parents = of ? [] : ((await listParents?.(db, user)) ?? [])
      return [
        ...owners.map((person) => keyOf(topic, { person })),
        ...parents.map((id) => keyOf(topic, { parent: id })),
      ]
    }
    return {
      ...common,
      id: JSON.stringify([principalOf(caller), variantOf?.(caller), identify(input), isView]),
      account: user.id,
      key: keyOf(topic, { person: user.id }),
      addressKey: keyOf(topic, { address: user.email }),
      parentKey: parent === undefined ? undefined : keyOf(topic, { parent }),
      maxStates: topic.input && maxInputs / (caller.scopes ? 2 : 1),
      otherKeys: listOtherOwners || (listParents && !of) ? otherKeys : undefined,
      read: readWith(procedure, reader.path, () => contextFor(caller), given),
    }
  }

  return (call: WatchCall) =>
    call.topics.flatMap((topicName) => {
      const given = listOf(call.given[topicName])
      return listOf(call.input[topicName]).map((input, index) =>
        sourceOf(topicName, input, given[index], call),
      )
    })
}

/** A topic with `of` has one input or a list. The input of another topic is an object, or undefined. */
const listOf = (input: unknown): readonly unknown[] => (Array.isArray(input) ? input : [input])

/** Returns the parent that the input of a topic names. */
function parentOf({ of: field }: Topic, input: unknown) {
  if (field === undefined) return {}
  const id: unknown = Reflect.get(Object(input), field)
  return { of: { [field]: id }, parent: String(id) }
}

/** The path is that of a call, so that guard, log and middlewares see the same procedure. */
const readWith =
  (
    procedure: AnyProcedure,
    path: readonly string[],
    createContext: () => Context,
    input?: unknown,
  ): (() => Promise<unknown>) =>
  () =>
    createProcedureClient(procedure, { context: createContext(), path })(input)
