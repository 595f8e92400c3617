// The law of announcements: after a change, every topic with a new state is delivered. Each case call begins with the rows of
// Ada and Bob, where those of Bob were created first: `bobFirst.withAda`. `fixture` is what `prepare` of the cases has returned for a person
// (../worlds.ts).

import { ORPCError } from '@orpc/client'
import { eq } from 'drizzle-orm'
import type { Topic } from 'tallystick-contract'

import { sessions } from 'tallystick/internal/db/accounts/sessions'
import { type Declared, proceduresOf } from '../procedures.ts'
import { type CaseCaller, type Law, caseCallsOf, run } from './observations.ts'
import type { Running } from '../running.ts'
import { differences, toPlain } from '../values.ts'
import { callerOf, type Person } from '../worlds.ts'

/** The topic of the barriers: changes after the checked change, whose delivery shows that the checked one had time to arrive. */
const BARRIER = 'sessions'

/**
 * Number of barriers after which no delivery is missing any more. The states of one account are read one after the other, and
 * each at most 200 ms after its change (READ_INTERVAL in engine/live/shared-state.ts). The interval between barriers is at least 100 ms.
 */
const MAX_BARRIERS = 4

interface Update {
  topic: string
  state: unknown
}
type Procedures = Record<string, Record<string, (input?: unknown) => Promise<unknown>>>

/** The procedure that reads a topic, and the input of the topic. */
export interface Reader {
  topic: Topic
  declared: Declared
  input: unknown
}

/** Finds the procedures that read topics. The input of a topic comes from the calls of the cases. */
export async function findReaders(law: Law, caller: CaseCaller): Promise<Reader[]> {
  const readers: Reader[] = []
  for (const declared of proceduresOf(law.worlds.running.app.router)) {
    const { reads: topic, administratorsOnly } = declared.meta
    if (!topic || administratorsOnly || declared.isStream) continue
    const input = await findInput(law, caller, declared, topic)
    // A state of a parent needs the id of the parent.
    if (topic.of === undefined || input !== undefined) readers.push({ topic, declared, input })
  }
  return readers
}

/** Returns the input of the first call with which a stream can watch a topic. Undefined if there is none. */
async function findInput(law: Law, caller: CaseCaller, declared: Declared, { input: schema }: Topic) {
  if (!schema) return undefined
  for (const caseCall of caseCallsOf(law.cases, declared)) {
    const recorded = await run(law, caller, caseCall)
    const parsed = schema.safeParse(recorded.at(-1)?.input ?? {})
    if (parsed.success) return parsed.data
  }
  return undefined
}

/** Lists the topics of parents that the laws cannot watch, because no case call of their list names a parent. */
export async function listUnwatched(law: Law) {
  const { worlds } = law
  await worlds.bobFirst.withAda.restore()
  const readers = await findReaders(law, { person: worlds.ada, fixture: worlds.bobFirst.ada.fixture })
  return proceduresOf(worlds.running.app.router).flatMap(({ name, meta: { reads, administratorsOnly } }) =>
    reads?.of !== undefined && !administratorsOnly && !readers.some(({ topic }) => topic === reads)
      ? [`${name}: add a call with ${reads.of}, so that the laws can watch the topic ${reads.name}`]
      : [],
  )
}

const clientOf = (running: Running, { cookie }: Person) => running.client({ cookie }) as unknown as Procedures

function nullIfRefused(error: unknown) {
  if (error instanceof ORPCError && (error.status === 403 || error.status === 404)) return null
  throw error
}

/** Reads the states of topics, as the answers of the procedures that read them. */
async function readStates(running: Running, person: Person, readers: readonly Reader[]) {
  const client = clientOf(running, person)
  const states = new Map<string, unknown>()
  for (const { topic, declared, input } of readers) {
    const [resource = '', key = ''] = declared.path
    const reading = client[resource]?.[key]?.(input)
    // The state of a parent that is deleted, or that the person has lost, is null.
    const state = await (topic.of === undefined ? reading : reading?.catch(nullIfRefused))
    states.set(topic.name, toPlain(state))
  }
  return states
}

/** Changes the state of the barrier's topic. */
async function changeBarrier({ services: { db, live }, app }: Running, { id }: Person) {
  const watched = proceduresOf(app.router).flatMap(({ meta }) => meta.watches ?? [])
  const topic = watched.find(({ name }) => name === BARRIER)
  await db.update(sessions).set({ userAgent: crypto.randomUUID() }).where(eq(sessions.userId, id))
  if (topic) live.announce(topic, { person: id })
}

/** Opens a stream of a person, runs a change, and lists the topics with a new state that the stream does not deliver. */
export async function listMissingDeliveries(
  law: Law,
  person: Person,
  readers: readonly Reader[],
  change: () => Promise<unknown>,
) {
  const { running } = law.worlds
  const topics = [...new Set([...readers.map(({ topic }) => topic.name), BARRIER])]
  const inputs = readers.flatMap(({ topic, input }) =>
    input === undefined ? [] : [[topic.name, input] as const],
  )
  const updates = (await clientOf(running, person).live?.watch?.({
    topics,
    ...Object.fromEntries(inputs),
  })) as AsyncIteratorObject<Update, void>
  const next = async () => {
    const { value } = await updates.next()
    if (!value) throw new Error('The stream has ended')
    return value
  }
  try {
    // A stream begins with the current state of each topic.
    for (const _ of topics) await next()
    const before = await readStates(running, person, readers)
    await change()
    const after = await readStates(running, person, readers)
    const missing = new Set(
      [...before.keys()].filter((name) => differences(before.get(name), after.get(name)).length > 0),
    )
    missing.delete(BARRIER)
    for (let barriers = 0; barriers === 0 || (missing.size > 0 && barriers < MAX_BARRIERS); barriers++) {
      await changeBarrier(running, person)
      let delivered: string | undefined
      while (delivered !== BARRIER) {
        delivered = (await next()).topic
        missing.delete(delivered)
      }
    }
    return [...missing]
  } finally {
    await updates.return?.()
  }
}

/** Runs a change, and lists the topics that it announces to nobody: a public procedure has no caller to announce them to. */
async function listWithoutRecipients({ live }: Running['services'], change: () => Promise<unknown>) {
  const { announce } = live
  const announced = new Map<string, boolean>()
  live.announce = (topic, ...recipients) => {
    const isDelivered = topic.access === 'public' || recipients.length > 0
    announced.set(topic.name, isDelivered || announced.get(topic.name) === true)
    announce(topic, ...recipients)
  }
  await change().finally(() => (live.announce = announce))
  return [...announced].flatMap(([name, isDelivered]) => (isDelivered ? [] : [name]))
}

/** Lists the topics whose state a change of a procedure changes, and that streams of the caller do not deliver. */
export async function listUnannounced(law: Law, declared: Declared) {
  const { worlds, cases } = law
  const { bobFirst } = worlds
  const caller = { person: callerOf(worlds, declared.meta), fixture: bobFirst.ada.fixture }
  const sentences: string[] = []
  for (const caseCall of caseCallsOf(cases, declared)) {
    await bobFirst.withAda.restore()
    const readers = await findReaders(law, caller)
    await bobFirst.withAda.restore()
    let withoutRecipients: string[] = []
    const missing = await listMissingDeliveries(law, caller.person, readers, async () => {
      withoutRecipients = await listWithoutRecipients(worlds.running.services, () =>
        run(law, caller, caseCall),
      )
    })
    sentences.push(
      ...withoutRecipients.map(
        (name) =>
          `${caseCall.label} announces the topic ${name} to nobody: without a caller, its handler must call \`announce\` with the recipients`,
      ),
      // A stream lists the parents that it listens to only before a read: it does not hear a change that is announced to a parent that the
      // case has just created, unless the creation has announced the topic.
      ...missing.map((name) =>
        declared.meta.updates?.some((topic) => topic.name === name)
          ? `${caseCall.label} announces the topic ${name}, but its new state is late: a call that \`prepare\` or the case makes before, for example of the parent, does not announce the topic`
          : `${caseCall.label} changes the state of the topic ${name}, but does not announce it in \`updates\``,
      ),
    )
  }
  return sentences
}
