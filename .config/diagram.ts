import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import { readFile, writeFile } from 'node:fs/promises'

// Generates the diagram of the folders in CONTRIBUTING.md from the imports. With `--check`, writes nothing, and fails
// if the diagram is not up to date.

const FILE = 'CONTRIBUTING.md'
const BLOCK = /(?<=<!-- diagram -->\n\n)[^]*?(?=\n\n<!-- \/diagram -->)/

/**
 * Groups that the diagram omits. Every folder can import these groups, so their arrows would make the diagram
 * unreadable.
 */
const SHARED = ['contract', 'shared', 'telemetry']

const groups: Record<string, readonly string[]> = {
  start: ['serve', 'workers', 'open-services'],
  engine: ['index', 'define-app'],
  texts: ['texts'],
  shared: [
    'audit-source',
    'caller',
    'context',
    'listen',
    'live-stream',
    'services',
    'settings',
    'outages',
    'output',
    'unix-time',
  ],
}

/** The service is one group, as is the template of a project. Each folder of the engine is a group. */
function groupOf(path: string) {
  if (/^(contract|db|src|engine\/create\/template)\//.test(path)) return 'service'
  const [, folder] = /^engine\/([^/.]+)\//.exec(path) ?? []
  if (folder !== undefined) return folder === 'test' ? undefined : folder
  const [, file = ''] = /^engine\/(.+)\.ts$/.exec(path) ?? []
  return Object.keys(groups).find((group) => groups[group]?.includes(file))
}

async function readImports() {
  const options = await extractDepcruiseOptions('./.config/dependency-cruiser.cjs')
  const { output } = await cruise(['contract', 'db', 'engine', 'src'], { ...options, outputType: undefined })
  const imports = new Map<string, Set<string>>()
  for (const { source, dependencies } of (output as ICruiseResult).modules)
    for (const { resolved } of dependencies) {
      const [from, to] = [groupOf(source), groupOf(resolved)]
      if (!from || !to || from === to || SHARED.includes(from) || SHARED.includes(to)) continue
      imports.set(from, (imports.get(from) ?? new Set()).add(to))
    }
  return imports
}

type Imports = Awaited<ReturnType<typeof readImports>>

const reaches = (imports: Imports, from: string, to: string): boolean =>
  [...(imports.get(from) ?? [])].some((next) => next === to || reaches(imports, next, to))

/**
 * Returns false if other arrows already lead from `from` to `to`. The diagram then omits the direct arrow (transitive
 * reduction).
 */
const isDirect = (imports: Imports, from: string, to: string) =>
  ![...(imports.get(from) ?? [])].some((other) => other !== to && reaches(imports, other, to))

function draw(imports: Imports) {
  const arrows = [...imports].flatMap(([from, targets]) =>
    [...targets].filter((to) => isDirect(imports, from, to)).map((to) => `  ${from} --> ${to}`),
  )
  return ['```mermaid', 'flowchart TD', ...arrows.sort(), '```'].join('\n')
}

const diagram = draw(await readImports())
const document = await readFile(FILE, 'utf8')
const updated = document.replace(BLOCK, () => diagram)
if (!process.argv.includes('--check')) await writeFile(FILE, updated)
else if (updated !== document) {
  process.stderr.write(`${FILE}: the diagram does not show the imports. Run: npm run diagram\n`)
  process.exitCode = 1
}
