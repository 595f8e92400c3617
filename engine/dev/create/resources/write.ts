import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The new contents of files by path. Undefined: the file is removed. */
export type Contents = ReadonlyMap<string, string | undefined>

/** Writes files, and runs `work`. If a step fails, restores all files. */
export async function withFiles<Result>(contents: Contents, work: () => Promise<Result>): Promise<Result> {
  const before = new Map(
    [...contents.keys()].map((file) => [file, existsSync(file) ? readFileSync(file) : undefined] as const),
  )
  const folders: string[] = []
  const write = (file: string, content: string | Buffer | undefined) => {
    if (content === undefined) {
      rmSync(file, { force: true })
      return
    }
    const folder = mkdirSync(dirname(file), { recursive: true })
    if (folder !== undefined) folders.push(folder)
    writeFileSync(file, content)
  }
  try {
    for (const [file, content] of contents) write(file, content)
    return await work()
  } catch (error) {
    for (const [file, content] of before) write(file, content)
    for (const folder of folders) rmSync(folder, { recursive: true })
    throw error
  }
}
