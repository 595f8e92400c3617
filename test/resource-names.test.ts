import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The files of the resources, in every folder. Shares belong to notes. */
const OWN = ['counter', 'tasks', 'notes', 'legacy-notes', 'shares', 'reservations']

/** The other files with the name of a resource in their code. The list must only become shorter. */
const EXCEPTIONS: Record<string, string> = {
  'contract/index.ts': 'lists the resources',
  'contract/bounds.ts': 'the page loads bounds without the schemas of the contract',
  'contract/query/bound.ts': 'names the resource that changes together with the topic of notes',
  'src/app.ts': 'lists the resources',
  'engine/openapi/openapi-headers.ts': 'published examples of headers',
  'engine/telemetry/metrics.ts': 'Counter is a type of metric',
}

const NAME = /(?:\b(?:tasks?|notes?|counter|reservations?)|(?:Tasks?|Notes?|Counter|Reservations?))(?![a-z])/

const withoutComments = (code: string) => code.replace(/\/\*.*?\*\//gs, '').replace(/(^|\s)\/\/.*/g, '')

/** Returns the first name of a resource in the code, not in its comments. */
const nameIn = (code: string) => NAME.exec(withoutComments(code))?.[0]

const files = ['contract', 'db', 'engine', 'src'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => /(?<!\.d)\.ts$/.test(file) && !/node_modules|^src\/messages\//.test(file))
    .filter((file) => !OWN.includes(basename(file, '.ts'))),
)

describe('a file that belongs to no resource', () => {
  test('names no resource, except for the files in a list', () => {
    const naming = files.filter((file) => nameIn(readFileSync(file, 'utf8')) !== undefined)

    expect(naming.sort()).toEqual(Object.keys(EXCEPTIONS).sort())
  })

  test.each([
    ["import { list } from '../db/tasks.ts'", 'tasks'],
    ['const taskTag = 1', 'task'],
    ['type NoteView = string', 'Note'],
    ['const deleteNote = 1', 'Note'],
    ['// tasks', undefined],
    ['/** A note */ queueMicrotask(noted)', undefined],
  ])('is found by a name in its code: %s', (code, name) => {
    expect(nameIn(code)).toBe(name)
  })
})
