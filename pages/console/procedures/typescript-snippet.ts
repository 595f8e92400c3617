import { isRecord } from './schema.ts'
import { type Call, needsSession } from './snippets.ts'

/** Length of a value on one line, in characters. */
const LINE = 60

/** Number of errors that a comment names. */
const NAMED_ERRORS = 3

/** Returns the call for TypeScript, as a file in the folder of the project. */
export function toTypeScript(call: Call) {
  const { origin, procedure, input, headers } = call
  const { operation, isStream } = procedure
  const errors = procedure.errors.filter(({ isDefined }) => isDefined)
  const credential = credentialOf(call)
  const options = Object.keys(headers).length > 0 ? [{ context: { headers } }] : []
  const values = input === undefined && options.length === 0 ? [] : [input, ...options]
  const invocation = `client.${operation}(${values.map((value) => toLiteral(value)).join(', ')})`
  const imported = isStream || errors.length === 0 ? '' : ', isDefinedError, safe'
  return [
    `import { createRpcClient${imported} } from 'tallystick-contract'`,
    "import type { Contract } from './contract/index.ts'",
    '',
    ...(credential ? [`const headers = ${credential}`] : []),
    `const client = createRpcClient<Contract>(${toLiteral(origin)}${credential ? ', { headers }' : ''})`,
    ...(isStream ? streamOf(invocation) : resultOf(invocation, errors)),
  ].join('\n')
}

const streamOf = (invocation: string) => [
  `for await (const event of await ${invocation}) {`,
  '  console.log(event)',
  '}',
]

function resultOf(invocation: string, errors: Call['procedure']['errors']) {
  if (errors.length === 0) return [`console.log(await ${invocation})`]
  const codes = errors.map(({ code }) => code)
  const names = codes.slice(0, NAMED_ERRORS).join(', ') + (codes.length > NAMED_ERRORS ? ', …' : '')
  return [
    `const { error, data } = await safe(${invocation})`,
    `if (isDefinedError(error)) console.log(error.code) // ${names}`,
    'else console.log(data)',
  ]
}

function credentialOf({ isSignedIn, procedure }: Call) {
  if (!isSignedIn) return undefined
  return needsSession(procedure)
    ? "{ cookie: process.env.COOKIE ?? '' }"
    : '{ authorization: `Bearer ${process.env.TOKEN}` }'
}

/** Returns a JSON value as an expression of TypeScript. */
export function toLiteral(value: unknown, indent = ''): string {
  if (typeof value === 'string') return toText(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const isObject = isRecord(value)
  const members = isObject
    ? Object.entries(value).map(([name, member]) => `${toKey(name)}: ${toLiteral(member, inner)}`)
    : Object.values(value).map((member) => toLiteral(member, inner))
  const [start, end, space] = isObject ? ['{', '}', ' '] : ['[', ']', '']
  if (members.length === 0) return start + end
  const line = `${start}${space}${members.join(', ')}${space}${end}`
  if (line.length <= LINE && !line.includes('\n')) return line
  return `${start}\n${members.map((member) => `${inner}${member},\n`).join('')}${indent}${end}`
}

const toKey = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : toText(name))

/** Returns a text in single quotes. */
const toText = (text: string) =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`
