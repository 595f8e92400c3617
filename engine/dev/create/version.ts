import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

import { filesIn } from './folder.ts'

interface Sources {
  /** The folder in which git runs. */
  folder: string
  /** The files and folders that decide the content of the package. */
  paths: readonly string[]
  /** Returns a hash of the content, in hexadecimal. */
  hash: () => string
}

/**
 * Returns a version that no build with another content has, because package managers do not install a package again if its
 * version is the same: `1.0.0-g6af3b29` of the last commit that changed the sources. `1.0.0-g6af3b29.d8e1f02c4` has a hash
 * of the content, because files have changed since the commit. Without a commit: `1.0.0-d8e1f02c4`.
 */
export function uniqueVersion(version: string, { folder, paths, hash }: Sources) {
  const commit = runGit(folder, 'log', '-1', '--format=%h', '--abbrev=7', '--', ...paths)
  const changed = runGit(folder, 'status', '--porcelain', '--', ...paths)
  const parts = commit ? [`g${commit}`] : []
  if (!commit || changed !== '') parts.push(`d${hash().slice(0, 8)}`)
  return `${version}${version.includes('-') ? '.' : '-'}${parts.join('.')}`
}

/** Returns the output of git. Undefined if git is missing, or the folder is in no repository. */
function runGit(folder: string, ...words: string[]) {
  try {
    return execFileSync('git', words, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

/** Returns a hash of the names and contents of all files in a folder. */
export function hashFolder(folder: string) {
  const hash = createHash('sha256')
  for (const path of filesIn(folder).sort())
    hash
      .update(`${relative(folder, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  return hash.digest('hex')
}
