import { addTo, type Edits } from './edits.ts'
import type { ResourceNames } from './resource-names.ts'

/** A change of a file that lists the resources. */
export interface IndexChange {
  file: string
  /** The new content. Undefined if the form of the file is unknown. */
  content: string | undefined
  /** The lines to add by hand if the form of the file is unknown. */
  lines: string[]
}

/** What a resource adds to the files that list the resources. */
function indexesOf({ camel, camelOne, kebab }: ResourceNames): Record<string, Edits> {
  const topic = `${camel}Topic`
  return {
    'contract/index.ts': {
      imports: [{ names: [camel, `${camel}Export`, topic], from: `./${kebab}.ts` }],
      entries: [
        { list: 'exportParts', codes: [`${camel}: ${camel}Export`] },
        { list: 'engine.topics', codes: [topic] },
        { list: 'contract', codes: [camel] },
      ],
    },
    'src/app.ts': {
      imports: [{ names: [camel], from: `./${kebab}.ts` }],
      entries: [{ list: 'app.resources', codes: [camel] }],
    },
    'test/laws.test.ts': {
      imports: [],
      entries: [
        { list: 'laws.prepare', codes: [`${camelOne}: await ada.${camel}.create({ title: text })`] },
        {
          list: 'laws.calls',
          codes: [
            `'${camel}.list': ({ ${camel} }) => ${camel}.list()`,
            `'${camel}.create': ({ ${camel} }) => ${camel}.create({ title: 'Another' })`,
            `'${camel}.delete': ({ ${camel} }, { ${camelOne} }) => ${camel}.delete({ id: ${camelOne}.id })`,
          ],
        },
        {
          list: 'laws.errors',
          codes: [
            `'${camel}.delete NOT_FOUND': ({ bob, fixture }) => bob.${camel}.delete({ id: fixture.${camelOne}.id })`,
          ],
        },
      ],
    },
  }
}

/** What a resource adds to the files that list the views of the page. */
function pageIndexesOf({ camel, pascal, kebab }: ResourceNames): Record<string, Edits> {
  return {
    'app/paths.ts': {
      imports: [],
      entries: [{ list: 'paths', codes: [`'/${kebab}'`], before: '...accountPaths' }],
    },
    'app/main.tsx': {
      imports: [{ names: [pascal], from: `./views/${kebab}.tsx` }],
      entries: [
        {
          list: 'views',
          codes: [`'/${kebab}': { title: '${camel}', access: 'signedIn', Content: ${pascal} }`],
          before: '...accountViews',
        },
        { list: 'startPage.keepLive.topics', codes: [`'${camel}'`] },
      ],
    },
    'app/texts.ts': {
      imports: [{ names: [camel], from: `./texts/${kebab}.ts` }],
      entries: [{ list: 'english', codes: [`...${camel}`] }],
    },
  }
}

/** Returns the lines of a change, for people. */
const linesOf = ({ imports, entries }: Edits) => [
  ...imports.map(({ names, from }) => `import { ${names.join(', ')} } from '${from}'`),
  ...entries.flatMap(({ list, codes }) => codes.map((code) => `${list.replace(/.*\./, '')}: ${code},`)),
]

/** Plans the changes of the files that list the resources, and the views of the page. */
export const planIndexes = (
  names: ResourceNames,
  hasPage: boolean,
  read: (file: string) => string,
): IndexChange[] =>
  Object.entries({ ...indexesOf(names), ...(hasPage && pageIndexesOf(names)) }).map(([file, edits]) => ({
    file,
    content: addTo(file, read(file), edits),
    lines: linesOf(edits),
  }))
