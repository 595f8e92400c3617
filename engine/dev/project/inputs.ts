import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

import { filesIn } from '../create/folder.ts'

/** What a folder was built from, stored beside the folder in `<output>.inputs.json`. */
interface Inputs {
  /** The files that the build has found itself. */
  files: string[]
  hash: string
}

/**
 * Runs `build`, unless the folder `output` was built from the same inputs: `inputs`, which are files, and folders with all
 * their files, and the files that the last build has returned.
 */
export async function buildIfChanged(
  output: string,
  inputs: readonly string[],
  build: () => Promise<string[] | undefined>,
) {
  const record = `${output}.inputs.json`
  if (existsSync(output) && existsSync(record)) {
    const { files, hash } = JSON.parse(readFileSync(record, 'utf8')) as Inputs
    if (hash === hashOf([...inputs, ...files])) return
  }
  // Before the build, so that no record describes a build that was interrupted.
  rmSync(record, { force: true })
  const files = (await build()) ?? []
  writeFileSync(record, JSON.stringify({ files, hash: hashOf([...inputs, ...files]) } satisfies Inputs))
}

/** Returns the hash of files, and of folders with all their files. */
export function hashOf(inputs: readonly string[]) {
  const hash = createHash('sha256')
  for (const file of inputs.flatMap(filesAt)) {
    hash.update(`${file}\0`)
    if (existsSync(file)) hash.update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

const filesAt = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ? filesIn(path).sort() : [path]
