import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs `build`, unless the folder `output` was built from the same `inputs`: files, and folders with all their files.
 * The hash of the inputs is stored beside the folder, in `<output>.inputs`.
 */
export async function buildIfChanged(output: string, inputs: string[], build: () => Promise<unknown>) {
  const record = `${output}.inputs`
  const hash = hashOf(inputs)
  if (existsSync(output) && existsSync(record) && readFileSync(record, 'utf8') === hash) return
  rmSync(record, { force: true })
  await build()
  writeFileSync(record, hash)
}

/** Returns the hash of files, and of folders with all their files. */
export function hashOf(inputs: string[]) {
  const hash = createHash('sha256')
  for (const file of inputs.flatMap(filesIn)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}
