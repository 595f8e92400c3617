import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FOLDER = 'test/generated'
const OUTPUT = join(FOLDER, '.output')
const DOCUMENT = join(OUTPUT, 'openapi.json')
const ORVAL_CONFIG = join(OUTPUT, 'orval.config.json')

interface Generator {
  /** The file in clients/, and the folder in the output. */
  client: string
  packages: string[]
  command: (output: string) => string[]
}

export const generators: Generator[] = [
  {
    client: 'openapi-fetch',
    packages: ['openapi-typescript', 'openapi-fetch'],
    command: (output) => ['openapi-typescript', DOCUMENT, '--output', join(output, 'schema.ts')],
  },
  {
    client: 'hey-api',
    packages: ['@hey-api/openapi-ts'],
    command: (output) => ['openapi-ts', '--input', DOCUMENT, '--output', output],
  },
  {
    client: 'orval',
    packages: ['orval'],
    command: () => ['orval', '--config', ORVAL_CONFIG],
  },
  {
    client: 'swagger-typescript-api',
    packages: ['swagger-typescript-api'],
    command: (output) => [
      ...['swagger-typescript-api', 'generate', '--path', DOCUMENT, '--output', output],
      ...['--name', 'client.ts', '--disable-throw-on-error'],
    ],
  },
]

/** Generates the clients from the document of a service, and compiles them with the strict settings of the project. */
export async function generateClients(origin: string, document: string) {
  await rm(OUTPUT, { recursive: true, force: true })
  await mkdir(OUTPUT, { recursive: true })
  await writeFile(DOCUMENT, document)
  const output = { target: './orval/client.ts', client: 'fetch', mode: 'single', baseUrl: origin }
  await writeFile(ORVAL_CONFIG, JSON.stringify({ tallystick: { input: './openapi.json', output } }))
  for (const { client, command } of generators) {
    const [program = '', ...words] = command(join(OUTPUT, client))
    await execute(join(FOLDER, 'node_modules/.bin', program), words)
  }
  await execute('node_modules/.bin/tsc', ['--project', FOLDER])
}

/** Runs a program. If the program fails, prints its output. */
async function execute(program: string, words: string[]) {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${program} failed:\n${text}`)
}
