// The law of relations: a relation shows rows of Ada to Bob, live, and its end restores what Bob observed before.

import type { AnyCase } from '../cases.ts'
import { findReaders, listMissingDeliveries } from './announcements.ts'
import {
  compareObservations,
  type AnswerDifference,
  type Law,
  observe,
  observeUntouched,
  caseCallsOf,
  run,
  sentenceOf,
  withoutExceptions,
} from './observations.ts'
import { proceduresOf } from '../procedures.ts'
import { createScene } from '../worlds.ts'

/** Lists how a relation of the cases breaks the law. */
export async function checkRelation(law: Law, name: string) {
  const { worlds, cases } = law
  const { start, ada, bob } = worlds.bobFirst
  const relation = cases.relations?.[name] as Readonly<Record<'begin' | 'end', AnyCase>>
  const ofBob = { person: worlds.bob, fixture: bob.fixture }
  const before = await observeUntouched(law, ofBob)
  const readers = await findReaders(law, ofBob)
  const { people, restore } = await createScene(worlds)
  const given = { ...people, fixture: ada.fixture }
  const unannounced = await listMissingDeliveries(law, worlds.bob, readers, () => relation.begin(given))
  const during = await observe(law, ofBob)
  await restore()
  await relation.begin(given)
  const unannouncedEnd = await listMissingDeliveries(law, worlds.bob, readers, () => relation.end(given))
  await restore()
  await relation.begin(given)
  await relation.end(given)
  const after = await observe(law, ofBob)

  const remaining = withoutExceptions(law, withoutTrail(compareObservations(before, after, start)))
  return [
    ...(withoutTrail(compareObservations(before, during, start)).length === 0
      ? ['Bob observes nothing of the relation']
      : []),
    ...unannounced.map((topic) => `The beginning does not announce the topic ${topic} to Bob`),
    ...unannouncedEnd.map((topic) => `The end does not announce the topic ${topic} to Bob`),
    ...remaining.map((found) => `After the end, Bob still observes: ${sentenceOf(found)}`),
    ...(await listUnannouncedToBob(law, relation.begin)),
  ]
}

/** The audit trail of a person keeps what has happened to the person, for example an invitation. */
const withoutTrail = (found: readonly AnswerDifference[]) =>
  found.filter(({ label, path }) => label !== 'account.export' || !path.startsWith('audit'))

/** Lists the changes of Ada that streams of Bob do not deliver, although the relation shows the changed state to Bob. */
async function listUnannouncedToBob(law: Law, begin: AnyCase) {
  const { worlds, cases } = law
  const { ada, bob } = worlds.bobFirst
  const sentences: string[] = []
  const changes = proceduresOf(worlds.running.app.router).filter(
    ({ name, meta }) => name in cases.calls && meta.updates?.length && !meta.administratorsOnly,
  )
  for (const caseCall of changes.flatMap((declared) => caseCallsOf(cases, declared))) {
    const readers = await findReaders(law, { person: worlds.bob, fixture: bob.fixture })
    const scene = await createScene(worlds)
    await begin({ ...scene.people, fixture: ada.fixture })
    const missing = await listMissingDeliveries(law, worlds.bob, readers, () =>
      run(law, { person: worlds.ada, fixture: ada.fixture }, caseCall),
    )
    sentences.push(
      ...missing.map((topic) => `Ada calls ${caseCall.label}: Bob does not receive the topic ${topic}`),
    )
  }
  return sentences
}
