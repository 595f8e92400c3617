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

/** Whether the file of a view exports one view, or a list of views. */
export type Views = 'one' | 'list'

/** What a resource adds to the files that list the resources. */
function indexesOf({ camel, kebab }: ResourceNames): Record<string, Edits> {
  const imports = [{ names: [camel], from: `./${kebab}.ts` }]
  return {
    'contract/index.ts': { imports, entries: [{ list: 'contract', codes: [camel] }] },
    'src/app.ts': { imports, entries: [{ list: 'app.resources', codes: [camel] }] },
  }
}

/** What a resource adds to the file that lists the views of the page. */
function pageIndexesOf({ camel, kebab }: ResourceNames, views: Views): Record<string, Edits> {
  // The list itself has the name `views`.
  const [imported, local] = camel === 'views' ? ['views as viewsView', 'viewsView'] : [camel, camel]
  return {
    'app/views.ts': {
      imports: [{ names: [imported], from: `./views/${kebab}.tsx` }],
      entries: [
        { list: 'views', codes: [views === 'list' ? `...${local}` : local], before: '...accountViews' },
      ],
    },
  }
}

/** Returns the name of a list without its object: `resources` of `app.resources`. */
const nameOf = (list: string) => list.split('.').at(-1)

/** Returns the lines of a change, for people. */
const linesOf = ({ imports, entries }: Edits) => [
  ...imports.map(({ names, from }) => `import { ${names.join(', ')} } from '${from}'`),
  ...entries.flatMap(({ list, codes }) => codes.map((code) => `${nameOf(list)}: ${code},`)),
]

/** The line of test/laws.test.ts, which projects of earlier releases do not have. */
const COLLECT =
  "laws(app, collectCases(import.meta.glob<ResourceCases>('./cases/*.ts', { eager: true, import: 'cases' })))"

/** Plans the changes of the files that list the resources, and the views of the page: `addTo`, or `removeFrom`. */
export function planIndexes(
  names: ResourceNames,
  views: Views | undefined,
  read: (file: string) => string,
  changeFile = addTo,
): IndexChange[] {
  const changes = Object.entries({ ...indexesOf(names), ...(views && pageIndexesOf(names, views)) }).map(
    ([file, edits]) => ({ file, content: changeFile(file, read(file), edits), lines: linesOf(edits) }),
  )
  const laws = 'test/laws.test.ts'
  const collects = read(laws).includes('collectCases(')
  return collects || changeFile !== addTo
    ? changes
    : [...changes, { file: laws, content: undefined, lines: [COLLECT] }]
}
