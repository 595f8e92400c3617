import type { ResourceNames } from './resource-names.ts'

/** A change of a file that lists the resources. */
export interface IndexChange {
  file: string
  /** The new content. Undefined if the form of the file is unknown. */
  content: string | undefined
  /** The lines to add by hand if the form of the file is unknown. */
  lines: string[]
}

/** Changes a text. Returns undefined if the text does not have the expected form. */
type Step = (text: string) => string | undefined

const addImport =
  (line: string): Step =>
  (text) => {
    const last = [...text.matchAll(/^import [^;]*? from '[^']+'$/gm)].at(-1)
    if (!last) return undefined
    const end = last.index + last[0].length
    // Relative imports follow the imports of packages after an empty line.
    const gap = last[0].includes("from '.") ? '\n' : '\n\n'
    return text.slice(0, end) + gap + line + text.slice(end)
  }

/** Adds an entry at the end of the object that follows `start`: `{}`, or an object with one entry in each line. */
const addEntry =
  (start: string, entry: string): Step =>
  (text) => {
    const pattern = new RegExp(`^( *)${start} ?\\{(\\n(?:\\1  .*\\n)*\\1)?\\}`, 'gm')
    if ([...text.matchAll(pattern)].length !== 1) return undefined
    return text.replace(pattern, (object: string, indent: string) =>
      object.endsWith('{}')
        ? `${object.slice(0, -1)}\n${indent}  ${entry}\n${indent}}`
        : `${object.slice(0, -1 - indent.length)}${indent}  ${entry}\n${indent}}`,
    )
  }

const addTopic =
  (topic: string): Step =>
  (text) => {
    const pattern = /topics: \[([^\]]*)\]/g
    if ([...text.matchAll(pattern)].length !== 1) return undefined
    return text.replace(pattern, (_, topics: string) => {
      const others = topics.trim().replace(/,$/, '')
      return `topics: [${others === '' ? topic : `${others}, ${topic}`}]`
    })
  }

const applyAll = (text: string, steps: readonly Step[]) =>
  steps.reduce<string | undefined>((result, step) => (result === undefined ? undefined : step(result)), text)

/** Adds an entry before the entries of every page. */
const addBefore =
  (start: string, entry: string): Step =>
  (text) =>
    text.split(start).length === 2 ? text.replace(start, `${entry}${start}`) : undefined

/** Returns the content of a file. */
type Read = (file: string) => string

const planWith =
  (read: Read) =>
  (file: string, lines: string[], ...steps: Step[]): IndexChange => ({
    file,
    content: applyAll(read(file), steps),
    lines,
  })

/** Plans the changes of the files that list the views of the page. */
export function planPageIndexes({ camel, pascal, kebab }: ResourceNames, read: Read): IndexChange[] {
  const plan = planWith(read)
  const viewImport = `import { ${pascal} } from './views/${kebab}.tsx'`
  const textImport = `import { ${camel} } from './texts/${kebab}.ts'`
  const view = `'/${kebab}': { title: '${camel}', access: 'signedIn', Content: ${pascal} },`
  return [
    plan(
      'app/paths.ts',
      [`paths: '/${kebab}',`],
      addBefore('...accountPaths', `'/${kebab}', // app/views/${kebab}.tsx\n  `),
    ),
    plan(
      'app/main.tsx',
      [viewImport, `views: ${view}`, `topics of keepLive: '${camel}'`],
      addImport(viewImport),
      addBefore('...accountViews', `${view}\n  `),
      addTopic(`'${camel}'`),
    ),
    plan(
      'app/texts.ts',
      [textImport, `english: ...${camel},`],
      addImport(textImport),
      addEntry('const english =', `...${camel},`),
    ),
  ]
}

/** Plans the changes of the files that list the resources. */
export function planIndexes({ camel, camelOne, kebab }: ResourceNames, read: Read): IndexChange[] {
  const plan = planWith(read)
  const data = `${camelOne}: await ada.${camel}.create({ title: text }),`
  const calls = [
    `'${camel}.list': ({ ${camel} }) => ${camel}.list(),`,
    `'${camel}.create': ({ ${camel} }) => ${camel}.create({ title: 'Another' }),`,
    `'${camel}.delete': ({ ${camel} }, { ${camelOne} }) => ${camel}.delete({ id: ${camelOne}.id }),`,
  ]
  const error = `'${camel}.delete NOT_FOUND': ({ bob, fixture }) => bob.${camel}.delete({ id: fixture.${camelOne}.id }),`
  const resourceImport = `import { ${camel} } from './${kebab}.ts'`
  return [
    plan(
      'contract/index.ts',
      [resourceImport, `appContract: ${camel},`],
      addImport(resourceImport),
      addEntry('export const contract = appContract\\(', `${camel},`),
    ),
    plan(
      'src/app.ts',
      [resourceImport, `resources: ${camel},`],
      addImport(resourceImport),
      addEntry('resources:', `${camel},`),
    ),
    plan(
      'test/laws.test.ts',
      [`prepare: ${data}`, ...calls.map((call) => `calls: ${call}`), `errors: ${error}`],
      addEntry('prepare: async \\({ ada }, text\\) => \\(', data),
      ...calls.map((call) => addEntry('calls:', call)),
      addEntry('errors:', error),
    ),
  ]
}
