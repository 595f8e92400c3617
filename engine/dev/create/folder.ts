import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

import { codeOf } from 'tallystick/internal/db/errors'

/** The files of a project by path, with slashes. */
export type Files = ReadonlyMap<string, string | Buffer>

/** Returns the status of a path without following a symbolic link. Undefined if nothing exists at the path. */
const statusOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })

/**
 * Returns the paths that must not be symbolic links: the folder and, if the folder is below the working folder, the folders
 * between them. Folders outside of the working folder can be links, for example /tmp.
 */
function pathsOf(folder: string, workingFolder: string) {
  const below = relative(workingFolder, folder)
  if (below === '' || below.split(sep)[0] === '..') return [folder]
  return below.split(sep).map((_, index, names) => resolve(workingFolder, ...names.slice(0, index + 1)))
}

/** Checks that a project can be written to a folder. Changes nothing. */
export function checkFolder(folder: string, workingFolder = process.cwd()) {
  for (const path of pathsOf(folder, workingFolder))
    if (statusOf(path)?.isSymbolicLink())
      throw new Error(`${path} is a symbolic link. Choose a folder that is none.`)
  const status = statusOf(folder)
  if (status && !status.isDirectory()) throw new Error(`${folder} is a file. Choose another folder.`)
  if (status && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. Choose another folder.`)
  if (!statusOf(dirname(folder)))
    throw new Error(`${dirname(folder)} does not exist. Create the folder first.`)
}

/**
 * Writes files to a new or empty folder. Replaces no file, and follows no symbolic link. If a file cannot be written, removes
 * the files that were written.
 */
export function writeFiles(folder: string, files: Files) {
  const created: string[] = []
  const makeFolder = (path: string) => {
    if (created.includes(path)) return
    if (path !== folder) makeFolder(dirname(path))
    try {
      mkdirSync(path)
    } catch (error) {
      // The empty folder may exist.
      if (path === folder && codeOf(error) === 'EEXIST') return
      throw error
    }
    created.push(path)
  }
  try {
    for (const [file, content] of files) {
      const path = join(folder, file)
      makeFolder(dirname(path))
      writeFileSync(path, content, { flag: 'wx' })
      created.push(path)
    }
  } catch (error) {
    // A folder with files of another program stays.
    for (const path of created.reverse()) removeOwn(path)
    throw error
  }
}

function removeOwn(path: string) {
  try {
    if (lstatSync(path).isDirectory()) rmdirSync(path)
    else rmSync(path)
  } catch {
    // Another program has changed the folder.
  }
}
