import { exec, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

import { postgresOfRun } from '../../engine/testing/database.ts'

const document = readFileSync('docs/first-resource.md', 'utf8')

/**
 * A code block of docs/first-resource.md.
 *
 * - `ts file=path`: the content of a new file.
 * - `diff`: a change of existing files.
 * - `sh`: commands that must succeed. If the next block is `text`, the commands must fail.
 * - `text`: lines that the failing commands must print.
 */
interface Block {
  language: string
  file?: string | undefined
  body: string
}

const blocks: Block[] = Array.from(
  document.matchAll(/^```(\w+)(?: file=(\S+))?\n(.*?)^```$/gms),
  ([, language = '', file, body = '']) => ({ language, file, body }),
)

/** Copies the files of the project that git does not ignore. Links the installed packages, and the packages of the copy. */
function copyProject() {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-first-resource-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', list, { encoding: 'utf8' }).split('\0')
  for (const file of files)
    // `git ls-files` also lists deleted files, and lists node_modules if node_modules is a symbolic link.
    if (file && file !== 'node_modules' && existsSync(file)) cpSync(file, join(folder, file))
  const workspaces = {
    tallystick: 'engine',
    'tallystick-client': 'contract',
    'tallystick-contract': 'engine/contract',
  }
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync('node_modules'))
    if (!Object.hasOwn(workspaces, name))
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  for (const [name, source] of Object.entries(workspaces))
    symlinkSync(join(folder, source), join(folder, 'node_modules', name))
  return folder
}

/** Runs a command in a folder. The command inherits only PATH and HOME from this process. */
const runIn = (folder: string, command: string, environment: Record<string, string>) => {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, NO_COLOR: '1', TEST_DATABASE_URL: postgresOfRun().url, ...environment }
  return new Promise<{ succeeded: boolean; output: string }>((resolve) => {
    exec(command, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ succeeded: error === null, output: `${command}\n${stdout}${stderr}` })
    })
  })
}

/** Applies a block that changes files. */
function change(folder: string, { file, body }: Block) {
  if (file === undefined) execFileSync('git', ['apply', '-'], { cwd: folder, input: body })
  else {
    expect(existsSync(join(folder, file)), `${file} exists already`).toBe(false)
    writeFileSync(join(folder, file), body)
  }
}

/** Runs the commands of a block at the same time, and compares their results with the next block. */
async function execute(folder: string, { body }: Block, next?: Block) {
  const failures = next?.language === 'text' ? next.body.trim().split('\n') : []
  // The last block repeats all tests, over all transports.
  const environment: Record<string, string> = next ? { TEST_TRANSPORT: 'over REST' } : {}
  const run = async (command: string) => {
    const { succeeded, output } = await runIn(folder, command, environment)
    expect(succeeded, output).toBe(failures.length === 0)
    for (const line of failures) expect(output).toContain(line)
  }
  await Promise.all(body.trim().split('\n').map(run))
}

test(
  'the steps of docs/first-resource.md create a resource that obeys the laws',
  { timeout: 900_000 },
  async () => {
    const folder = copyProject()

    // Blocks of commands without a change between them run at the same time.
    let running: Promise<void>[] = []
    for (const [index, block] of blocks.entries())
      if (block.language === 'sh') running.push(execute(folder, block, blocks[index + 1]))
      else if (block.language !== 'text') {
        await Promise.all(running)
        running = []
        change(folder, block)
      }
    await Promise.all(running)

    expect(blocks.filter(({ file }) => file !== undefined)).toHaveLength(4)
  },
)
