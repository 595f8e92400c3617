import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { freeNames } from './aliases.ts'
import type { Views } from './indexes.ts'
import type { Kind } from './parents.ts'
import type { ResourceNames } from './resource-names.ts'
import {
  identifiersOfSample,
  inDatabase,
  inPath,
  type Renaming,
  renameSamples,
  samples,
} from './sample-names.ts'

interface Sample {
  /** The folder of the sample, seen from the template. */
  folder: string
  name: keyof typeof samples
  /** The files of the view, with the name of the resource as `*`. */
  views: readonly string[]
  /** The forms of the names of the tables. */
  tables: (names: ResourceNames) => string[]
}

const SAMPLES: Readonly<Record<Kind['type'], Sample>> = {
  own: { folder: '.', name: 'ideas', views: ['app/views/*.tsx'], tables: ({ snake }) => [snake] },
  shared: {
    folder: '../samples',
    name: 'gardens',
    views: ['app/views/*.tsx', 'app/views/*-item.tsx'],
    tables: ({ snake, snakeOne }) => [`${snakeOne}_members`, snake],
  },
  within: {
    folder: '../samples',
    name: 'plants',
    views: ['app/views/*.tsx'],
    tables: ({ snake }) => [snake],
  },
}

/** Shared rows have a view of the list, and a view of one row. */
export const viewsOf = ({ type }: Kind): Views => (SAMPLES[type].views.length > 1 ? 'list' : 'one')

/** The files of a resource, with the name of the resource as `*`. */
const FILES = [
  'contract/*.ts',
  'db/*.ts',
  'src/*.ts',
  'src/samples/*.ts',
  'test/*.test.ts',
  'test/cases/*.ts',
]

/** The parts of a resource whose views earlier versions of `add` wrote. */
const FORMER_PARTS = ['members', 'choice']

/** Returns the views that earlier versions of `add` wrote for a resource. `staff-members` can also be a resource of its own. */
export const formerViewsOf = ({ kebab }: ResourceNames, exists: (file: string) => boolean) =>
  FORMER_PARTS.map((part) => `${kebab}-${part}`).flatMap((name) =>
    exists(`app/views/${name}.tsx`) && !exists(`contract/${name}.ts`) ? [`app/views/${name}.tsx`] : [],
  )

/** Returns the tables of a resource. A table precedes the tables that it has a foreign key to. */
export const tablesOf = ({ type }: Kind, names: ResourceNames) => SAMPLES[type].tables(names)

const renamingsOf = (kind: Kind, names: ResourceNames): Renaming[] => [
  [samples[SAMPLES[kind.type].name], names],
  ...(kind.type === 'within' ? [[samples.gardens, kind.parent.names] as const] : []),
]

/** The first role may edit, the last one may only see. Other roles of the parent are like the last one. */
function withRoles(code: string, roles: readonly string[]) {
  const [editor = '', ...others] = roles
  return code
    .replace(/^ *viewer: .*\n/m, (line) => others.map((role) => line.replace('viewer', role)).join(''))
    .replaceAll(/\beditor\b/g, editor)
    .replaceAll(/'viewer'/g, `'${others.at(-1) ?? ''}'`)
}

/**
 * Keeps the lines between `// #name` and `// #end`, and the code after `// #name ` in one line, of the names that apply: `shared` or
 * `owned` to the rows at the root, `can` or `cannot` to the parent.
 */
function selectLines(code: string, applying: readonly string[]) {
  const lines: string[] = []
  let isKept = true
  for (const line of code.split('\n')) {
    const [mark, indent = '', name = '', rest = ''] = /^(\s*)\/\/ #(\w+) ?(.*)$/.exec(line) ?? []
    if (mark === undefined && isKept) lines.push(line)
    else if (rest !== '') lines.push(...(applying.includes(name) ? [indent + rest] : []))
    else if (mark !== undefined) isKept = name === 'end' || applying.includes(name)
  }
  return lines.join('\n')
}

function completeSample(code: string, kind: Kind) {
  if (kind.type !== 'within') return code
  const { root, hasCan } = kind.parent
  const selected = selectLines(code, [root.isShared ? 'shared' : 'owned', hasCan ? 'can' : 'cannot'])
  return root.isShared ? withRoles(selected, root.roles) : selected
}

export interface SampleFile {
  file: string
  code: string
}

/** Reads the files of the sample of a kind, with the lines that apply. */
export function readSample(template: string, kind: Kind, hasPage: boolean): SampleFile[] {
  const { folder, name, views } = SAMPLES[kind.type]
  return [...FILES, ...(hasPage ? views : [])].map((pattern) => {
    const file = pattern.replace('*', name)
    return { file, code: completeSample(readFileSync(join(template, folder, file), 'utf8'), kind) }
  })
}

/** Returns the files of a resource. `blocked` are names that the code cannot give up, such as `Promise`: `add` refuses them. */
export function filesOf(kind: Kind, names: ResourceNames, sample: readonly SampleFile[]) {
  const renamings = renamingsOf(kind, names)
  const blocked: string[] = []
  const files = new Map(
    sample.map(({ file, code }) => {
      const free = freeNames(file, code, identifiersOfSample(code, renamings))
      blocked.push(...free.blocked)
      return [inPath(file, renamings), renameSamples(free.code, renamings)]
    }),
  )
  return { files, blocked }
}

/** Returns the SQL of the migration that creates the tables of the sample, with the names of the resource. */
export function statementsOf(template: string, kind: Kind, names: ResourceNames) {
  const { folder, name, tables } = SAMPLES[kind.type]
  const path = join(template, folder, 'db/migrations')
  const file = readdirSync(path).find((each) => each.endsWith('.sql')) ?? ''
  const own = tables(samples[name]).flatMap((table) => [`TABLE "${table}"`, `ON "${table}"`])
  const statements = readFileSync(join(path, file), 'utf8').split('--> statement-breakpoint')
  return statements
    .filter((each) => own.some((part) => each.includes(part)))
    .map((each) => inDatabase(each.trim(), renamingsOf(kind, names)))
    .join('\n')
}
