import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
  rmSync(record, { force: true })
  const files = (await build()) ?? []
  writeFileSync(record, JSON.stringify({ files, hash: hashOf([...inputs, ...files]) } satisfies Inputs))
}

/** Returns the hash of files, and of folders with all their files. */
export function hashOf(inputs: readonly string[]) {
  const hash = createHash('sha256')
  for (const file of inputs.flatMap(filesIn)) {
    hash.update(`${file}\0`)
    if (existsSync(file)) hash.update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

function filesIn(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}
