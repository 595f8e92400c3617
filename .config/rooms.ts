import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'

// Compares the map of the code in CONTRIBUTING.md with the imports, and prints the number of rooms, floors and arrows. A room is a
// folder of the repository, or a folder or a loose file of the engine. A room stands on the floor above all rooms that it imports,
// and an arrow leads from a room to a room that it imports. Fails if the map misses a room, if a room imports a room that the map
// names earlier, or if a limit is exceeded.

const LIMITS = { rooms: 30, floors: 12, 'files in one folder': 20, 'lines in one file': 250 }

/** A line of the map. */
const MAP = /^- `([^`]+)`: /gm
const FOLDERS = ['.config', 'app', 'bench', 'contract', 'db', 'engine', 'pages', 'src']

/** Tests, what drizzle-kit reads, and the files that `tallystick new` and `add` copy are no rooms. */
const OTHERS =
  /(^|\/)(test|node_modules)\/|^engine\/dev\/create\/(samples|template)\/|drizzle\.config|\.(json|css)$|\.d\.ts$/

const isSource = (path: string) =>
  FOLDERS.some((folder) => path.startsWith(`${folder}/`)) && !OTHERS.test(path)

/** Returns the room of a file as the map names it: `engine/http/`, `engine/index.ts`, `src/`. */
function roomOf(path: string) {
  const [first = '', second = '', ...rest] = path.split('/')
  if (first !== 'engine') return `${first}/`
  return rest.length > 0 ? `${first}/${second}/` : path
}

async function readImports() {
  const options = await extractDepcruiseOptions('./.config/dependency-cruiser.cjs')
  const { output } = await cruise(FOLDERS, { ...options, outputType: undefined })
  return (output as ICruiseResult).modules
    .filter(({ source }) => isSource(source))
    .map(({ source, dependencies }) => ({
      source,
      imported: dependencies.map(({ resolved }) => resolved).filter(isSource),
    }))
}

const files = await readImports()
const rooms = new Map(files.map(({ source }) => [roomOf(source), new Set<string>()]))
for (const { source, imported } of files)
  for (const path of imported)
    if (roomOf(path) !== roomOf(source)) rooms.get(roomOf(source))?.add(roomOf(path))

const document = await readFile('CONTRIBUTING.md', 'utf8')
const order = [...document.matchAll(MAP)].map(([, name = '']) => name)

const floors = new Map<string, number>()
/** Rooms that import each other have no floor: the map cannot name each before the other. */
function floorOf(room: string, above: readonly string[] = []): number {
  if (above.includes(room)) return 0
  const known = floors.get(room)
  if (known !== undefined) return known
  const below = [...(rooms.get(room) ?? [])].map((other) => floorOf(other, [...above, room]))
  const floor = 1 + Math.max(0, ...below)
  floors.set(room, floor)
  return floor
}

const lines = await Promise.all(
  files.map(async ({ source }) => ({
    source,
    count: (await readFile(source, 'utf8')).split('\n').length - 1,
  })),
)
const folders = new Map<string, number>()
for (const { source } of files) folders.set(dirname(source), (folders.get(dirname(source)) ?? 0) + 1)
const figures = {
  rooms: rooms.size,
  floors: Math.max(...[...rooms.keys()].map((room) => floorOf(room))),
  arrows: [...rooms.values()].reduce((sum, imported) => sum + imported.size, 0),
}

const mistakes = [
  ...[...rooms.keys()]
    .filter((room) => !order.includes(room))
    .map((room) => `${room}: CONTRIBUTING.md has no line`),
  ...files.flatMap(({ source, imported }) =>
    imported
      .filter((path) => order.indexOf(roomOf(path)) < order.indexOf(roomOf(source)))
      .map((path) => `${source} imports ${path}, whose room CONTRIBUTING.md names earlier`),
  ),
  ...[...folders]
    .filter(([, count]) => count > LIMITS['files in one folder'])
    .map(([folder, count]) => `${folder}/ has ${count} files: the limit is ${LIMITS['files in one folder']}`),
  ...lines
    .filter(({ count }) => count > LIMITS['lines in one file'])
    .map(({ source, count }) => `${source} has ${count} lines: the limit is ${LIMITS['lines in one file']}`),
  ...(['rooms', 'floors'] as const)
    .filter((name) => figures[name] > LIMITS[name])
    .map((name) => `${figures[name]} ${name}: the limit is ${LIMITS[name]}`),
]
process.stdout.write(`${figures.rooms} rooms on ${figures.floors} floors, ${figures.arrows} arrows\n`)
for (const mistake of mistakes) process.stderr.write(`${mistake}\n`)
if (mistakes.length > 0) process.exitCode = 1
