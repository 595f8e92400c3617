import type { Command } from 'commander'
import * as z from 'zod'
import type { Topic } from 'tallystick-contract'

/** A field in the input of a topic, as an option of the command line. */
interface Field {
  topic: string
  name: string
  isWhole: boolean
  help: string
}

/** The parts of a JSON Schema that describe a field. */
interface FieldSchema {
  type?: string
  enum?: string[]
  description?: string
}

const fieldsOf = ({ name: topic, input }: Topic): Field[] => {
  if (!input) return []
  const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  return Object.entries(properties as Record<string, FieldSchema>).map(([name, schema]) => ({
    topic,
    name,
    isWhole: schema.type === 'integer',
    help: schema.description ?? schema.enum?.join(', ') ?? '',
  }))
}

/** Adds an option for each field of the inputs. Returns the function that reads the inputs by the name of the topic. */
export function addWatchOptions(command: Command, topics: readonly Topic[]) {
  const fields = topics.flatMap(fieldsOf)
  for (const name of new Set(fields.map((field) => field.name))) {
    const same = fields.filter((field) => field.name === name)
    const texts = [...new Set(same.map(({ help }) => help))].map((text) => {
      const names = same.filter(({ help }) => help === text).map(({ topic }) => topic)
      return `${names.join(', ')}: ${text}`
    })
    command.option(`--${name} <${name}>`, texts.join('; '))
  }
  return (options: Readonly<Record<string, string>>) => {
    const inputs: Record<string, Record<string, unknown>> = {}
    for (const field of fields) {
      const text = options[field.name]
      if (text !== undefined)
        inputs[field.topic] = { ...inputs[field.topic], [field.name]: read(field, text) }
    }
    return inputs
  }
}

function read({ name, isWhole }: Field, text: string) {
  if (!isWhole) return text
  if (!/^\d+$/.test(text)) throw new Error(`--${name} ${text}: must be a whole number`)
  return Number(text)
}
