import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'

import { checkFolder, writeFiles } from './folder.ts'
import { toNames } from './names.ts'
import { packageFolders, type PackageName, readTemplate } from './template.ts'

interface NewProject {
  folder: string
  name?: string | undefined
  /** Without the sample resource. */
  bare?: true | undefined
}

/** Creates a project in a new or empty folder. Installs nothing. Returns lines that describe the next steps. */
export function createProject({ folder, name, bare }: NewProject): string[] {
  const target = resolve(folder)
  const names = toNames(basename(target), name)
  checkFolder(target)
  const folders = packageFolders()
  const archives = packAll(folders)
  const files = readTemplate(join(folders['tallystick-dev'], 'template'), {
    ...names,
    bare,
    versions: mapValues(archives, ({ name }) => `file:vendor/${name}`),
  })
  const vendor = Object.values(archives).map(({ name, content }) => [`vendor/${name}`, content] as const)
  writeFiles(target, new Map<string, string | Buffer>([...files, ...vendor]))
  const shown = relative(process.cwd(), target) || '.'
  return [`Created ${names.name} in ${shown}. Next steps:`, `  cd ${shown}`, '  npm install', '  npm run dev']
}

interface Archive {
  name: string
  content: Buffer
}

/** Packs the packages of the engine, which no registry has yet. */
function packAll(folders: Record<PackageName, string>): Record<PackageName, Archive> {
  const scratch = mkdtempSync(join(tmpdir(), 'tallystick-new-'))
  const pack = (folder: string): Archive => {
    const options = ['--ignore-scripts', '--silent', '--pack-destination', scratch]
    const name = execFileSync('npm', ['pack', folder, ...options], { encoding: 'utf8' }).trim()
    return { name, content: readFileSync(join(scratch, name)) }
  }
  try {
    return mapValues(folders, pack)
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

const mapValues = <Name extends string, From, To>(record: Record<Name, From>, map: (value: From) => To) =>
  Object.fromEntries(Object.entries<From>(record).map(([name, value]) => [name, map(value)])) as Record<
    Name,
    To
  >
