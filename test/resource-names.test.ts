import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The files of the resources, in every folder. Shares belong to notes. */
const OWN = ['counter', 'tasks', 'notes', 'notes-schemas', 'legacy-notes', 'shares', 'reservations']

/** The other files of the service with the name of a resource in their code. The list must only become shorter. */
const EXCEPTIONS: Record<string, string> = {
  'contract/bounds.ts': 'the page loads bounds without the schemas of the contract',
  'contract/index.ts': 'lists the resources',
  'contract/query/bound.ts': 'names the resource that changes together with the topic of notes',
  'src/app.ts': 'lists the resources',
}

/** The files of the engine with the name of a resource in their code or comments. */
const ENGINE_EXCEPTIONS: Record<string, string> = {
  'engine/openapi/openapi-headers.ts': 'the published example of Idempotency-Key',
  'engine/telemetry/metrics.ts': 'Counter is a type of metric',
}

const NAME = /(?:\b(?:tasks?|notes?|counter|reservations?)|(?:Tasks?|Notes?|Counter|Reservations?))(?![a-z])/

const withoutComments = (code: string) => code.replace(/\/\*.*?\*\//gs, '').replace(/(^|\s)\/\/.*/g, '')

/** Returns the first name of a resource. */
const nameIn = (text: string) => NAME.exec(text)?.[0]

const filesIn = (...folders: string[]) =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter(
        (file) => /(?<!\.d)\.(ts|tsx|json|md|sql)$/.test(file) && !/node_modules|^db\/migrations/.test(file),
      ),
  )

describe('a file that belongs to no resource', () => {
  test('names no resource in its code, except for the files in a list', () => {
    const files = filesIn('contract', 'db', 'src').filter(
      (file) => !OWN.includes(basename(file, '.ts')) && !file.startsWith('src/messages/'),
    )
    const naming = files.filter((file) => nameIn(withoutComments(readFileSync(file, 'utf8'))) !== undefined)

    expect(naming.sort()).toEqual(Object.keys(EXCEPTIONS).sort())
  })

  test('names no resource in its code and comments if the file belongs to the engine', () => {
    const naming = filesIn('engine').filter((file) => nameIn(readFileSync(file, 'utf8')) !== undefined)

    expect(naming.sort()).toEqual(Object.keys(ENGINE_EXCEPTIONS).sort())
  })

  test.each([
    ["import { list } from '../db/tasks.ts'", 'tasks'],
    ['const taskTag = 1', 'task'],
    ['type NoteView = string', 'Note'],
    ['const deleteNote = 1', 'Note'],
    ['// tasks', undefined],
    ['/** A note */ queueMicrotask(noted)', undefined],
  ])('is found by a name in its code: %s', (code, name) => {
    expect(nameIn(withoutComments(code))).toBe(name)
  })
})
