import type { Command } from 'commander'
import * as z from 'zod'
import type { Topic } from 'tallystick-contract'

/** A field in the input of a topic, as an option of the command line. */
interface Field {
  topic: string
  name: string
  isWhole: boolean
  /** Whether the field names the parents to watch, so that the option can be repeated. */
  isParent: boolean
  help: string
}

/** The parts of a JSON Schema that describe a field. */
interface FieldSchema {
  type?: string
  enum?: string[]
  description?: string
}

const fieldsOf = ({ name: topic, input, of }: Topic): Field[] => {
  if (!input) return []
  const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  return Object.entries(properties as Record<string, FieldSchema>).map(([name, schema]) => ({
    topic,
    name,
    isWhole: schema.type === 'integer',
    isParent: name === of,
    help: schema.description ?? schema.enum?.join(', ') ?? (name === of ? 'can be repeated' : ''),
  }))
}

/** Adds an option for each field of the inputs. Returns the function that reads the inputs by the name of the topic. */
export function addWatchOptions(command: Command, topics: readonly Topic[]) {
  const fields = topics.flatMap(fieldsOf)
  for (const name of new Set(fields.map((field) => field.name))) {
    // One option sets the field of several topics: the help names the topics of each description.
    const same = fields.filter((field) => field.name === name)
    const texts = [...new Set(same.map(({ help }) => help))].map((text) => {
      const described = same.filter(({ help }) => help === text).map(({ topic }) => topic)
      return `${described.join(', ')}: ${text}`
    })
    command.option(`--${name} <${name}>`, texts.join('; '), collect, [])
  }
  return (options: WatchOptions) =>
    Object.fromEntries(
      topics.flatMap(({ name }) => {
        const input = readInput(
          fields.filter(({ topic }) => topic === name),
          options,
        )
        return input ? [[name, input] as const] : []
      }),
    )
}

/** The values of each option, which can be repeated. */
export type WatchOptions = Readonly<Record<string, readonly string[]>>

const collect = (value: string, previous: readonly string[]) => [...previous, value]

/**
 * Returns one input, or one for each parent. Undefined if no option belongs to the topic. Also undefined if the topic has a parent, and no
 * parent is given: the service refuses such a topic.
 */
function readInput(fields: readonly Field[], options: WatchOptions) {
  const valuesOf = (field: Field) => (options[field.name] ?? []).map((text) => read(field, text))
  const given = fields.filter((field) => !field.isParent && valuesOf(field).length > 0)
  const input = Object.fromEntries(given.map((field) => [field.name, valuesOf(field).at(-1)]))
  const parent = fields.find(({ isParent }) => isParent)
  const parents = parent && valuesOf(parent).map((value) => ({ ...input, [parent.name]: value }))
  if (parents) return parents.length > 0 ? parents : undefined
  return given.length > 0 ? input : undefined
}

function read({ name, isWhole }: Field, text: string) {
  if (!isWhole) return text
  if (!/^\d+$/.test(text)) throw new Error(`--${name} ${text}: must be a whole number`)
  return Number(text)
}
