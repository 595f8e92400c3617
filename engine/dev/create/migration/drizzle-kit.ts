import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'

// The working folder is the folder of the project.

/** The tables and the migrations of a project. */
export interface Sources {
  /** The configuration of drizzle-kit, beside the folder of the migrations. */
  config: string
  folder: string
}

export const sourcesOf = (config: string): Sources => ({
  config,
  folder: join(dirname(config), 'migrations'),
})

/** Returns the program of drizzle-kit. Undefined if the package is not installed, for example in production. */
export function findDrizzleKit() {
  try {
    const { resolve } = createRequire(join(process.cwd(), 'package.json'))
    return join(dirname(resolve('drizzle-kit')), 'bin.cjs')
  } catch {
    return undefined
  }
}

/**
 * Runs `work` with a copy of the migrations, which drizzle-kit can change. With an empty `folder`, the copy has no migrations.
 * The path of the copy is relative, because drizzle-kit accepts no other.
 */
export async function withCopy<Result>(
  { config, folder }: Sources,
  work: (copy: Sources) => Promise<Result>,
) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'tallystick-migration-')))
  const copy = sourcesOf(relative(process.cwd(), join(scratch, 'drizzle.config.ts')))
  try {
    if (folder !== '' && existsSync(folder)) cpSync(folder, copy.folder, { recursive: true })
    else mkdirSync(copy.folder)
    // drizzle-kit fails without a file of tables.
    const noTables = join(dirname(copy.config), 'no-tables.ts')
    writeFileSync(noTables, 'export {}\n')
    const [path, out, schema] = [resolve(config), copy.folder, noTables].map((each) => JSON.stringify(each))
    writeFileSync(
      copy.config,
      `import config from ${path}\nexport default { ...config, schema: [config.schema, ${schema}].flat(), out: ${out} }\n`,
    )
    return await work(copy)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** `question`: drizzle-kit asks whether something is new or renamed, and has no terminal. */
export type Outcome = { kind: 'nothing' } | { kind: 'question' } | { kind: 'written'; tag: string }

export interface GenerateOptions {
  name?: string | undefined
  /** Writes a migration without statements. */
  custom?: boolean | undefined
  /** Whether the person at the terminal can answer questions. */
  isInteractive?: boolean
}

const tagsIn = (folder: string) => readdirSync(folder).filter((file) => file.endsWith('.sql'))

/** Runs `drizzle-kit generate`, whose exit code is 0 even after an error. */
export async function generate(
  { config, folder }: Sources,
  { name, custom, isInteractive }: GenerateOptions = {},
): Promise<Outcome> {
  const program = findDrizzleKit()
  if (program === undefined) throw new Error('The package drizzle-kit is not installed. Run: npm install')
  const before = new Set(tagsIn(folder))
  const words = [program, 'generate', '--config', config]
  if (name !== undefined) words.push('--name', name)
  if (custom) words.push('--custom')
  const child = spawn(process.execPath, words, {
    stdio: isInteractive ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'exit'),
  ])
  const printed = stripVTControlCharacters(`${output}${errors}`).trim()
  const file = tagsIn(folder).find((name) => !before.has(name))
  if (file !== undefined) return { kind: 'written', tag: file.replace(/\.sql$/, '') }
  if (printed.includes('No schema changes')) return { kind: 'nothing' }
  if (printed.includes('Interactive prompts require')) return { kind: 'question' }
  throw new Error(`drizzle-kit could not write the migration: ${printed}`)
}
