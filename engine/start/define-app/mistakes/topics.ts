import { metaOf, type Topic } from 'tallystick-contract/internal'
import { z } from 'zod'

import type { Resource } from '../../../app/resource.ts'
import { isZod, partsOf, type Schema, schemasOf, typesOf } from '../../../values/schema.ts'
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
    const isOfTopic = (declared: { topic: Topic }) => declared.topic === topic
    const readers = all.filter(({ procedure }) => metaOf(procedure).reads === topic)
    const sameName = [...topics].filter((other) => other.name === name)
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
      ...(watches.filter(isOfTopic).length > 1 ? [`Two resources have \`watch\` for the topic ${name}`] : []),
      ...(views.filter(isOfTopic).length > 1 ? [`Two resources have a live view for the topic ${name}`] : []),
      ...(access === 'public' && (input ?? watches.find(isOfTopic))
        ? [`The topic ${name} is public, and can have neither an input nor \`watch\``]
        : []),
      ...mistakesOfParent(topic, readers),
    ]
  }
  return [...topics].flatMap(mistakesOf)
}

/** The types of a field that names a parent: texts and numbers. Some schemas declare their type, for example `RowId`. */
const ID_TYPES = ['string', 'number', 'int', 'integer', 'bigint']

/** Returns the mistakes of a topic whose states show the rows of a parent. */
function mistakesOfParent({ name, of, input }: Topic, readers: readonly Declared[]) {
  if (of === undefined) return []
  const fields = input ? fieldsOf(input) : new Map<string, Schema>()
  const field = fields.get(of)
  if (!field)
    return [
      `The topic ${name} is \`of: '${of}'\`, but its \`input\` has no such field${suggest(of, fields.keys())}`,
    ]
  const inputs = readers.map(({ procedure }) => schemasOf(procedure).inputSchema)
  const isRead = inputs.every((schema) => isZod(schema) && fieldsOf(schema).has(of))
  return [
    ...(isId(field)
      ? []
      : [`The topic ${name} is \`of: '${of}'\`: the field must be a text or a number, and required`]),
    ...(isRead
      ? []
      : [`The topic ${name} is \`of: '${of}'\`, but the procedure that reads the topic has no such field`]),
  ]
}

/** Returns the fields of an object, also of an optional one. */
const fieldsOf = (schema: Schema): ReadonlyMap<string, Schema> =>
  new Map(
    partsOf(schema, 'input').flatMap(({ name, schema: part }) =>
      name === undefined ? [...fieldsOf(part)] : [[name, part] as const],
    ),
  )

const isId = (field: Schema) => {
  const declared = z.globalRegistry.get(field)?.type
  const types = typeof declared === 'string' ? [declared] : [...typesOf(field, 'output')]
  return field._zod.optin !== 'optional' && types.every((type) => ID_TYPES.includes(type))
}
