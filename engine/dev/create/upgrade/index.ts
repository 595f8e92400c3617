import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import type { Print } from '../archives.ts'
import { findPackageManager, requirePackageManager, runScript } from '../package-manager.ts'
import { findDevPackage, versionIn } from '../packages.ts'
import { readTemplateFiles, type Texts } from '../template.ts'
import { type Change, findChanges, findSampleChanges } from './changes.ts'
import { replaceEngine } from './engine.ts'
import { diffTexts, requireGit } from './git.ts'
import { formatRecord, readRecord, RECORD } from './record.ts'

interface Upgrade {
  /** Whether the changes of the template are written to the files of the project. */
  isApplied: boolean
  print: Print
}

/**
 * Upgrades the project in the working folder to the engine of this command: replaces the archives, installs the packages,
 * shows the changes of the template, and runs the script `check`. Returns whether the check succeeds.
 */
export function upgradeProject({ isApplied, print }: Upgrade): boolean {
  requireGit()
  const manager = findPackageManager(process.cwd())
  requirePackageManager(manager)
  const devPackage = findDevPackage()
  const version = versionIn(devPackage)
  const record = readRecord()
  const lines = replaceEngine(manager, record, print)
  print(lines ?? [`The engine of the project is ${version} already.`])
  const template = readTemplateFiles(join(devPackage, 'template'))
  const { changes, deleted } = findChanges(record, template, readText)
  print(describeChanges(record.version, changes, deleted, isApplied))
  print(describeSample(findSampleChanges(record, template, readText)))
  if (isApplied) for (const { file, after } of changes) writeText(file, after)
  // Without --apply, the record keeps the former template, so that the next upgrade shows the same changes again.
  if (isApplied || changes.length === 0)
    writeText(RECORD, formatRecord({ ...record, version, files: template }))
  return runCheck(manager, print)
}

/** Runs the command of another clone of Tallystick. Returns whether the command succeeds. */
export function upgradeFrom(clone: string, words: readonly string[]): boolean {
  const manifest = resolve(clone, 'package.json')
  const { bin } = (existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {}) as {
    bin?: { tallystick?: string }
  }
  const command = resolve(clone, bin?.tallystick ?? '')
  if (!bin?.tallystick || !existsSync(command))
    throw new Error(`${clone} is no built clone of Tallystick. In a clone of Tallystick, run: npm ci`)
  const { status } = spawnSync(process.execPath, [command, 'upgrade', ...words], { stdio: 'inherit' })
  return status === 0
}

const readText = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

function writeText(file: string, text: string | undefined) {
  if (text === undefined) {
    rmSync(file)
    return
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const textsOf = (changes: readonly Change[], version: 'before' | 'after'): Texts =>
  new Map(changes.flatMap(({ file, [version]: text }) => (text === undefined ? [] : [[file, text] as const])))

const diffOf = (changes: readonly Change[]) =>
  diffTexts(textsOf(changes, 'before'), textsOf(changes, 'after'), {
    isColored: process.stdout.isTTY && !process.env.NO_COLOR,
  }).trimEnd()

function describeChanges(
  version: string,
  changes: readonly Change[],
  deleted: readonly string[],
  isApplied: boolean,
): string[] {
  const skipped = deleted.length > 0 ? [`Also changed, but not in your project: ${deleted.join(', ')}`] : []
  if (changes.length === 0) return ['Your files have all changes of the template.', ...skipped]
  const conflicts = changes.filter((change) => change.conflicts > 0).map(({ file }) => file)
  return [
    `The template has changed since ${version}. The changes, merged with your files:`,
    '',
    diffOf(changes),
    '',
    isApplied
      ? 'These changes are now in your files.'
      : 'Nothing of this is written yet. What to do by hand:',
    ...(isApplied ? [] : changes.map((change) => `  ${describeChange(change)}`)),
    ...skipped,
    ...(conflicts.length > 0
      ? [`Both you and the template changed the same lines, marked <<<<<<<, of: ${conflicts.join(', ')}`]
      : []),
    ...(isApplied ? [] : ['To write all of this to your files: npx tallystick upgrade --apply']),
  ]
}

const describeChange = ({ file, before, after, conflicts }: Change) =>
  before === undefined
    ? `${file}: new. Add the file if you need it.`
    : after === undefined
      ? `${file}: no longer part of the template. Remove the file if you do not need it.`
      : conflicts > 0
        ? `${file}: choose between your lines and the lines of the template.`
        : `${file}: take over the lines of the diff.`

const describeSample = (changes: readonly Change[]) =>
  changes.length === 0
    ? []
    : [
        'The sample resource has changed too. If resources of your project come from `tallystick add`, compare them:',
        '',
        diffOf(changes),
        '',
      ]

function runCheck(manager: ReturnType<typeof findPackageManager>, print: Upgrade['print']) {
  const { scripts = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts?: object }
  if (!Object.hasOwn(scripts, 'check')) {
    print(['package.json has no script `check`. Check the project, for example with the compiler.'])
    return true
  }
  print([`Running ${manager.name} run check…`])
  const succeeded = runScript(manager, 'check')
  print([
    succeeded
      ? 'The check succeeds. Run the tests too.'
      : 'The check fails. Take over the changes of the template, and see CHANGELOG.md of Tallystick for breaking changes.',
  ])
  return succeeded
}
