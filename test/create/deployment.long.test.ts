import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse as parseYaml } from 'yaml'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { executeDockerfile } from '../fixtures/dockerfile.ts'
import { run } from '../fixtures/installation.ts'
import { createProject } from '../fixtures/project.ts'
import { waitUntilListening } from '../fixtures/programs.ts'

let folder: string
let project: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-deployment-'))
  project = join(folder, 'lendery')
  await createProject(project)
}, 600_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

const settings = {
  BASE_URL: 'https://lendery.example',
  AUTH_SECRET: 'x'.repeat(32),
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'library@lendery.example',
}

describe('the files for the deployment of a new project', { timeout: 600_000 }, () => {
  test('the steps of the Dockerfile write an image that starts, without sources and compilers', async () => {
    const image = await executeDockerfile(project, join(folder, 'image'))
    const { root = '', workingFolder = '', environment, command = [] } = image ?? {}
    const app = join(root, workingFolder)
    const env = {
      PATH: process.env.PATH,
      ...environment,
      ...settings,
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      DATA_DIR: join(root, 'data'),
    }

    expect((await readdir(app)).sort()).toEqual(['dist', 'node_modules', 'package.json'])
    expect(existsSync(join(app, 'node_modules/typescript'))).toBe(false)

    const [program = '', ...words] = command
    const service = spawn(program, words, { cwd: app, env })
    onTestFinished(() => void service.kill('SIGKILL'))
    const { output, exit } = await waitUntilListening(service)
    expect(output()).toContain('listens on')
    const status = await fetch(`http://127.0.0.1:${env.PORT}/api/status`)
    expect(await status.json()).toMatchObject({ status: 'ok', release: 'local' })
    expect((await fetch(`http://127.0.0.1:${env.PORT}/ideas`)).status).toBe(200)

    // The commands of the project, while the service runs.
    const tallystick = join(app, 'node_modules/.bin/tallystick')
    const checked = await run(tallystick, ['doctor'], { cwd: app, env }).catch((error: unknown) => error)
    expect(checked).toMatchObject({ stdout: expect.stringMatching(/^ok +settings +production/m) })
    expect((await run(tallystick, ['permissions'], { cwd: app, env })).stdout).toBeDefined()
    for (const name of ['dev', 'build'])
      await expect(run(tallystick, [name], { cwd: app, env })).rejects.toMatchObject({
        stderr: expect.stringContaining('such as dev, need the sources and the package tallystick-dev'),
      })

    service.kill('SIGTERM')
    expect(await exit).toEqual([0, null])

    const started = spawn(tallystick, ['start'], { cwd: app, env })
    onTestFinished(() => void started.kill('SIGKILL'))
    const second = await waitUntilListening(started)
    expect(second.output()).toContain('listens on')
    started.kill('SIGTERM')
    await second.exit
  })

  test('the commands of the workflow succeed in a clone', async () => {
    const { jobs } = parseYaml(await readFile(join(project, '.github/workflows/check.yml'), 'utf8')) as {
      jobs: { check: { steps: { run?: string }[] } }
    }
    const commands = jobs.check.steps.flatMap(({ run: command }) => command ?? [])

    expect(commands).toContain('npm run check')
    for (const command of commands)
      await run('bash', ['-c', command], {
        cwd: project,
        env: { PATH: process.env.PATH, HOME: process.env.HOME },
      })
    expect(existsSync(join(project, 'dist/start/main.js'))).toBe(true)
  })
})

test('the command outside of a project says where the other commands are', async () => {
  const empty = await mkdtemp(join(folder, 'empty-'))

  await expect(
    run(join(project, 'node_modules/.bin/tallystick'), ['doctor'], { cwd: empty }),
  ).rejects.toMatchObject({
    stderr: expect.stringMatching(/unknown command 'doctor'\n.*such as doctor, need a project/),
  })
})
