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

/** Plans the changes of the files that list the resources. `read` returns the content of a file. */
export function planIndexes({ camel, kebab }: ResourceNames, read: (file: string) => string): IndexChange[] {
  const contractImport = `import { ${camel}, ${camel}Export, ${camel}Topic } from './${kebab}.ts'`
  const sourceImport = `import { ${camel} } from './${kebab}.ts'`
  const plan = (file: string, lines: string[], ...steps: Step[]): IndexChange => ({
    file,
    content: applyAll(read(file), steps),
    lines,
  })
  return [
    plan(
      'contract/index.ts',
      [
        contractImport,
        `exportParts: ${camel}: ${camel}Export,`,
        `topics of engineContract: ${camel}Topic`,
        `contract: ${camel},`,
      ],
      addImport(contractImport),
      addEntry('export const exportParts =', `${camel}: ${camel}Export,`),
      addTopic(`${camel}Topic`),
      addEntry('export const contract =', `${camel},`),
    ),
    plan(
      'src/app.ts',
      [sourceImport, `resources: ${camel},`],
      addImport(sourceImport),
      addEntry('resources:', `${camel},`),
    ),
  ]
}
