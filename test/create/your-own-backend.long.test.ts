import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { postgresOfRun } from '../../engine/testing/database.ts'
import { freePort } from '../../engine/testing/postgres.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { accept, rpc } from '../../engine/test/fixtures/mcp-agent.ts'
import { temporaryDatabase, waitUntilListening } from '../fixtures/programs.ts'

/**
 * A code block of docs/your-own-backend.md.
 *
 * - `file=path`: the content of a file.
 * - `diff`: a change of existing files.
 * - `sh`: commands, which must succeed. With `server`, the commands run until the end of the test.
 * - `text`: the output of the commands before the block.
 */
interface Block {
  language: string
  file: string | undefined
  role: string | undefined
  body: string
}

interface Shell {
  cwd: string
  env: Record<string, string | undefined>
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-document-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Reads the blocks, with the addresses and folders of this test. */
async function readBlocks(replacements: Record<string, string>): Promise<Block[]> {
  let text = await readFile('docs/your-own-backend.md', 'utf8')
  for (const [written, used] of Object.entries(replacements)) text = text.replaceAll(written, used)
  return Array.from(
    text.matchAll(/^```(\w+)(?: file=(\S+))?(?: (server))?\n(.*?)^```$/gms),
    ([, language = '', file, role, body = '']) => ({ language, file, role, body }),
  )
}

/** Runs commands in a folder, and returns their output. The next commands have the same exported variables. */
async function runShell({ cwd, env }: Shell, commands: string) {
  const variables = join(folder, 'variables')
  const child = spawn('bash', ['-c', `set -e\n. ${variables}\n${commands}\nexport -p > ${variables}`], {
    cwd,
    env,
  })
  let [output, messages] = ['', '']
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (messages += String(chunk)))
  if (commands.includes('create-token')) await answerSignIn(child.stdin, join(cwd, '.data/outbox'))
  const [code] = (await once(child, 'close')) as [number]
  expect(code, `${commands}\n${output}${messages}`).toBe(0)
  return output
}

/** Answers the questions for the address and for the code, which is in a new e-mail. */
async function answerSignIn(input: Writable, outbox: string) {
  const list = () => readdir(outbox).catch((): string[] => [])
  const known = await list()
  const findNew = async () => (await list()).find((file) => !known.includes(file))
  input.write('root@example.com\n')
  await expect.poll(findNew).toBeDefined()
  const letter = await readFile(join(outbox, (await findNew()) ?? ''), 'utf8')
  input.write(`${/^Subject: (\d{6})/m.exec(letter)?.[1]}\n`)
}

/** Starts a server, and waits until it listens. Returns a function that stops the server. */
async function startShell({ cwd, env }: Shell, commands: string) {
  const child = spawn('bash', ['-c', `exec env ${commands}`], { cwd, env, detached: true })
  const stop = async () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    process.kill(-child.pid, 'SIGTERM')
    await once(child, 'close')
  }
  onTestFinished(stop)
  const { output } = await waitUntilListening(child)
  expect(output()).toContain('listens on')
  return stop
}

/** Lists the books as an agent does. */
async function askAsAgent(origin: string, token: string) {
  const call = createFetch({ origin })
  const request = rpc('tools/call', { name: 'books_list', arguments: {} })
  return (await call('POST', '/mcp', request, { authorization: `Bearer ${token}`, accept })).body
}

test('the steps of docs/your-own-backend.md create a library', { timeout: 900_000 }, async () => {
  const project = join(folder, 'lendery')
  const PORT = String(await freePort())
  const origin = `http://localhost:${PORT}`
  const blocks = await readBlocks({
    '../lendery': project,
    'http://localhost:3000': origin,
    'postgres://localhost/lendery': await temporaryDatabase('template0'),
  })
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT, TALLYSTICK_ORIGIN: origin, TEST_DATABASE_URL: postgresOfRun().url }
  await writeFile(join(folder, 'variables'), '')

  let cwd = process.cwd()
  let output = ''
  let stop = () => Promise.resolve()
  for (const { language, file, role, body } of blocks) {
    const shell = { cwd, env }
    if (file !== undefined) await writeFile(join(project, file), body)
    else if (language === 'diff') await runShell(shell, `git apply - <<'END'\n${body}END`)
    else if (language === 'text') for (const line of body.trim().split('\n')) expect(output).toContain(line)
    else if (role === 'server') {
      await stop()
      stop = await startShell(shell, body)
    } else if (language === 'sh') output += await runShell(shell, body)
    if (body.includes('--for mcp'))
      expect(await askAsAgent(origin, output.trim().split('\n').at(-1) ?? '')).toMatchObject({
        result: { structuredContent: { books: [{ title: 'Dune', copies: 1, lent: 1 }] } },
      })
    cwd = project
  }
})
