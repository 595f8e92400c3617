import { execFileSync, spawn } from 'node:child_process'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import {
  COMMAND,
  createProject,
  launchDevelopment,
  observe,
  signInByTerminal,
  startDevelopment,
} from '../fixtures/development.ts'

const POLL = { timeout: 120_000 }

const starts = (output: string) => output.split('listens on').length - 1

/** Returns the process id of the service. */
async function servicePid(port: number) {
  const { service } = (await (await fetch(`http://localhost:${port}/api/status`)).json()) as {
    service: string
  }
  return Number(service.split(':')[1])
}

/** Returns whether the process existed. */
const sendSignal = ({ pid }: { pid: number }, signal: NodeJS.Signals | 0) => {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
const isRunning = (running: { pid: number }) => sendSignal(running, 0)

interface RunningProcess {
  pid: number
  parent: number
  command: string
}

/** Returns the processes that a process has started, also through others. */
function descendantsOf(pid: number): RunningProcess[] {
  const output = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const all = Array.from(output.matchAll(/^ *(\d+) +(\d+) (.*)$/gm), ([, id, parent, command = '']) => ({
    pid: Number(id),
    parent: Number(parent),
    command,
  }))
  const below = (above: number): RunningProcess[] =>
    all.filter(({ parent }) => parent === above).flatMap((found) => [found, ...below(found.pid)])
  return below(pid)
}

describe('tallystick dev', { timeout: 300_000 }, () => {
  test('says that the service has ended, ends its streams, and starts it after the next change', async () => {
    const project = await createProject({ page: true })
    const port = await freePort()
    const { output } = await startDevelopment(project, { PORT: String(port) })
    const cookie = await signInByTerminal(`http://localhost:${port}`, output)
    const stream = await fetch(`http://localhost:${port}/api/live?topics=ideas`, { headers: { cookie } })
    expect(stream.status).toBe(200)

    process.kill(await servicePid(port), 'SIGKILL')

    // An unfinished answer is an error in some releases of Node.
    await stream.text().catch(() => '')
    await expect.poll(output, POLL).toContain('The service has ended: SIGKILL.')
    const refused = await fetch(`http://localhost:${port}/api/status`)
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }])

    await appendFile(join(project, 'src/app.ts'), '\n// changed\n')
    await expect.poll(() => starts(output()), POLL).toBe(2)
    expect(await servicePid(port)).toBeGreaterThan(0)
  })

  test('shows the error of a service that cannot start, and starts it after the correction', async () => {
    const project = await createProject({ page: false })
    const source = join(project, 'src/app.ts')
    const code = await readFile(source, 'utf8')
    await writeFile(source, `${code}\nthrow new Error('no such card')\n`)
    const { output } = launchDevelopment(project, { PORT: String(await freePort()) })
    await expect.poll(output, POLL).toMatch(/no such card.*The service has ended: code 1\./s)

    await writeFile(source, code)

    await expect.poll(output, POLL).toContain('listens on')
  })

  test.each([
    ['SIGHUP', 'tallystick dev', 'dev'],
    ['SIGKILL', 'tallystick dev', 'dev'],
    ['SIGTERM', 'npm', 'dev'],
    ['SIGKILL', 'npm', 'dev'],
    ['SIGTERM', 'npx', 'dev'],
    ['SIGTERM', 'the shell of npm', 'dev'],
    ['SIGTERM', 'npm', 'start'],
  ] as const)('leaves nothing behind after %s of %s, which ran %s', async (signal, target, name) => {
    const project = await createProject({ page: target === 'tallystick dev' })
    const port = await freePort()
    const command = [process.execPath, ...COMMAND, name].join(' ')
    const manifest = { name: 'example', type: 'module', scripts: { [name]: command } }
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
    const words = target === 'npx' ? ['npx', '-c', command] : ['npm', 'run', name]
    const environment = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port) }
    const runner = spawn(words[0] ?? '', words.slice(1), { cwd: project, env: environment })
    const runnerOutput = observe(runner)
    await expect.poll(runnerOutput, POLL).toContain('listens on')
    const below = descendantsOf(runner.pid ?? 0)
    const service = below.find(({ command }) => command.includes('dist/dev/dev.js'))
    const victims = {
      npm: runner,
      npx: runner,
      'the shell of npm': below.find(({ command }) => command.startsWith('sh -c')),
      'tallystick dev': below.find(({ pid }) => pid === service?.parent),
    }

    // Without its parent, esbuild stays if it waits for the answer to a ping: it uses neither the ports nor the database.
    const esbuild = below.filter(
      ({ command }) => target === 'tallystick dev' && command.includes('/esbuild '),
    )
    onTestFinished(() => {
      for (const running of esbuild) sendSignal(running, 'SIGTERM')
    })
    const others = below.filter((running) => !esbuild.includes(running))

    process.kill(victims[target]?.pid ?? 0, signal)

    await expect.poll(() => others.filter(isRunning), POLL).toEqual([])
    // The next start needs the ports and the lock of the embedded database.
    const { output } = await startDevelopment(project, { PORT: String(port) })
    expect(output()).toContain('listens on')
  })

  test.each(['option of dev', 'option of Node'])(
    'lets a debugger reach each start of the service: %s',
    async (kind) => {
      const project = await createProject({ page: false })
      const debugPort = await freePort()
      const address = `127.0.0.1:${debugPort}`
      const { output } = await startDevelopment(
        project,
        { PORT: String(await freePort()) },
        kind === 'option of dev' ? { options: ['--inspect', address] } : { flags: [`--inspect=${address}`] },
      )
      const findTitles = async () => {
        const targets = (await (await fetch(`http://${address}/json/list`)).json()) as { title: string }[]
        return targets.map(({ title }) => title)
      }

      expect(output()).toContain('listens on')
      expect(await findTitles()).toEqual(['dist/dev/dev.js'])
      const debugging = observe(spawn(process.execPath, ['inspect', address]))
      await expect.poll(debugging, POLL).toContain('ok')

      await appendFile(join(project, 'src/app.ts'), '\n// changed\n')

      await expect.poll(() => starts(output()), POLL).toBe(2)
      expect(await findTitles()).toEqual(['dist/dev/dev.js'])
    },
  )
})
