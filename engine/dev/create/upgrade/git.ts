import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import type { Texts } from '../template.ts'

/** Runs git in a folder of its own, with files. Fails if the status is over `maxStatus`. */
function runGit(files: Texts, words: readonly string[], maxStatus: number) {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-upgrade-'))
  try {
    for (const [file, text] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 } as const
    const { status, stdout, stderr, error } = spawnSync('git', words, options)
    if (error) throw new Error('git is not in PATH, and compares the files. Install git.', { cause: error })
    if (status === null || status > maxStatus) throw new Error(`git ${words[0] ?? ''} failed: ${stderr}`)
    return { status, output: stdout }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Throws if git cannot run. */
export const requireGit = () => runGit(new Map(), ['--version'], 0)

interface Versions {
  current: string
  base: string
  next: string
}

/** Merges the changes from `base` to `next` into `current`. Conflicts are marked in the text, as git marks conflicts. */
export function mergeTexts({ current, base, next }: Versions) {
  const files = new Map(Object.entries({ current, base, next }))
  const labels = ['-L', 'your file', '-L', 'template before', '-L', 'template now']
  const words = ['merge-file', '-p', ...labels, 'current', 'base', 'next']
  // The status is the number of conflicts, at most 127. A larger status is an error.
  const { status, output } = runGit(files, words, 127)
  return { merged: output, conflicts: status }
}

/** Returns the differences between files as a patch for `git apply`. */
export function diffTexts(before: Texts, after: Texts, { isColored = false } = {}) {
  const inFolder = (folder: string, texts: Texts) =>
    [...texts].map(([file, text]) => [`${folder}/${file}`, text] as const)
  const files = new Map([['a/.keep', ''], ['b/.keep', ''], ...inFolder('a', before), ...inFolder('b', after)])
  const color = `--color=${isColored ? 'always' : 'never'}`
  const words = ['diff', '--no-index', '--no-ext-diff', '--no-prefix', color, 'a', 'b']
  // The status is 1 if there are differences.
  return runGit(files, words, 1).output
}
