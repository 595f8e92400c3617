import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

import { codeOf } from 'tallystick/internal/db/errors'

/** The files of a project by path, with slashes. */
export type Files = ReadonlyMap<string, string | Buffer>

/** Lists the files in a folder and below. */
export const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/**
 * What a folder may have before a project is written to it: files of a new repository, and settings of editors and systems.
 * No file of these is replaced.
 */
const ALLOWED = [
  /^\.(git|gitattributes|gitignore|hg|hgignore)$/,
  /^(readme|licen[cs]e|copying|notice|authors|codeowners)([.-].*)?$/i,
  /^\.(idea|vscode|vs|zed|fleet|editorconfig|DS_Store)$/,
  /^.*\.(code-workspace|iml)$/,
]

const isAllowed = (name: string) => ALLOWED.some((pattern) => pattern.test(name))

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
  if (folder.includes('?')) throw new Error(`${folder}: Vite builds no page in a folder with ? in its path.`)
  const status = statusOf(folder)
  if (status && !status.isDirectory()) throw new Error(`${folder} is a file. Choose another folder.`)
  const others = status ? readdirSync(folder).filter((name) => !isAllowed(name)) : []
  if (others.length > 0)
    throw new Error(
      `${folder} is not empty: ${others.slice(0, 5).join(', ')}. Choose another folder. Only .git, .gitignore, README, LICENSE and the settings of editors may exist.`,
    )
  if (statusOf(join(folder, IGNORE_FILE))?.isFile() === false)
    throw new Error(`${join(folder, IGNORE_FILE)} is no file. Remove it first.`)
  if (!statusOf(dirname(folder)))
    throw new Error(`${dirname(folder)} does not exist. Create the folder first.`)
}

/**
 * Writes the files of a project. Keeps a README that exists, and adds the missing lines to a .gitignore that exists. Returns
 * lines that describe these two files.
 */
export function writeProject(folder: string, files: Files): string[] {
  const existing = new Map(
    (statusOf(folder) ? readdirSync(folder) : []).map((name) => [foldCase(name), name]),
  )
  const kept = [...files.keys()].filter((file) => existing.has(foldCase(file)))
  writeFiles(folder, new Map([...files].filter(([file]) => !kept.includes(file))))
  return kept.map((file) => {
    const name = existing.get(foldCase(file)) ?? file
    if (file !== IGNORE_FILE) return `Kept ${name} as it is.`
    const missing = addLines(join(folder, name), String(files.get(file)))
    return `Kept ${name}, and added: ${missing.join(' ') || 'nothing'}`
  })
}

const IGNORE_FILE = '.gitignore'

/** Some systems do not distinguish the case of names. */
const foldCase = (name: string) => name.toLowerCase()

/** Adds the lines of a text that a file does not have. Returns these lines. */
function addLines(path: string, text: string) {
  const before = readFileSync(path, 'utf8')
  const existing = new Set(before.split(/\r?\n/).map(toEntry))
  const missing = text.split('\n').filter((line) => line !== '' && !existing.has(toEntry(line)))
  const gap = before === '' || before.endsWith('\n') ? '' : '\n'
  if (missing.length > 0) writeFileSync(path, `${before}${gap}${missing.join('\n')}\n`)
  return missing
}

/** `node_modules`, `/node_modules` and `node_modules/` ignore the folder of the project. */
const toEntry = (line: string) => line.trim().replace(/^\/|\/$/g, '')

/**
 * Writes files to a new folder, or to a folder without these files. Replaces no file, and follows no symbolic link. If a file cannot be written, removes
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
