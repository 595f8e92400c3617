import { metaOf, type Topic } from 'tallystick-contract/internal'

import type { Resource } from '../resource.ts'
import { type Declared, isDefined } from './procedures.ts'
import { suggest } from './suggestions.ts'

/** Keys of changes contain the name, and have at most 64 bytes: see `keyOf` (engine/live/keys.ts). */
const TOPIC_NAME = /^[\w-]{1,31}$/

/** Returns a sentence for each mistake in the topics of an application. */
export function mistakesOfTopics(all: readonly Declared[], resources: readonly Resource[]) {
  const watches = resources.flatMap(({ watch }) => watch ?? [])
  const views = resources.flatMap(({ datastar }) => datastar?.live ?? [])
  const used = [
    ...all.flatMap(({ procedure }) =>
      [...(metaOf(procedure).updates ?? []), metaOf(procedure).reads].filter(isDefined),
    ),
    ...[...watches, ...views].map(({ topic }) => topic),
  ]
  // Some tests check resources without `live.watch`.
  const watched = all.find(({ procedure }) => metaOf(procedure).watches)
  const listed = watched ? (metaOf(watched.procedure).watches ?? []) : used
  const topics = new Set([...used, ...listed])
  const read = all.flatMap(({ procedure }) => metaOf(procedure).reads?.name ?? [])
  const suggestRead = (name: string, readers: readonly Declared[]) =>
    readers.length > 0 ? '' : suggest(name, read) || '; declare `reads` in the procedure that lists the state'
  const mistakesOf = (topic: Topic) => {
    const { name, access, input } = topic
    const isTopic = (each: { topic: Topic }) => each.topic === topic
    const readers = all.filter(({ procedure }) => metaOf(procedure).reads === topic)
    const sameName = [...topics].filter((each) => each.name === name)
    return [
      ...(readers.length === 1
        ? []
        : [
            `The topic ${name} is read by ${readers.length} procedures, instead of one${suggestRead(name, readers)}`,
          ]),
      ...(sameName[0] === topic ? [] : [`Two topics have the name ${name}`]),
      ...(listed.includes(topic)
        ? []
        : [
            `The topic ${name} is missing in the contract, so that no client can watch it; add \`topics: [${name}Topic]\` to its resourceContract`,
          ]),
      ...(TOPIC_NAME.test(name)
        ? []
        : [`The name of the topic ${name} must consist of at most 31 letters, digits, \`-\` and \`_\``]),
      ...(watches.filter(isTopic).length > 1 ? [`Two resources have \`watch\` for the topic ${name}`] : []),
      ...(views.filter(isTopic).length > 1 ? [`Two resources have a live view for the topic ${name}`] : []),
      ...(access === 'public' && (input ?? watches.find(isTopic))
        ? [`The topic ${name} is public, and can have neither an input nor \`watch\``]
        : []),
    ]
  }
  return [...topics].flatMap(mistakesOf)
}
