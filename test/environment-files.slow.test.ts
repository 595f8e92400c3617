import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'

import { freePort } from '../engine/dev/testing/postgres.ts'
import { createProject, startDevelopment } from './fixtures/development.ts'
import { pathOf, temporaryDatabase } from './fixtures/programs.ts'

const run = promisify(execFile)

/** Writes files with variables to a new folder. */
async function createFolder(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-env-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

const files = {
  '.env': 'FIRST=env\nSECOND=env\nTHIRD=env\nFOURTH=env\n',
  '.env.local': 'FIRST=local\nSECOND=local\nTHIRD=local\n',
  '.env.test': 'FIRST=test\n',
}

/** Returns the variables of a process after it has read the files in its working folder. */
async function readVariables(environment: Record<string, string>) {
  const script = `
    import { loadEnvironmentFiles } from ${JSON.stringify(resolve('engine/settings/environment-files.ts'))}
    loadEnvironmentFiles()
    const { FIRST, SECOND, THIRD, FOURTH } = process.env
    console.log(JSON.stringify({ FIRST, SECOND, THIRD, FOURTH }))`
  const words = ['--import', resolve('node_modules/tsx/dist/loader.mjs'), '--input-type=module', '-e', script]
  const { stdout, stderr } = await run(process.execPath, words, {
    cwd: await createFolder(files),
    env: { PATH: process.env.PATH, ...environment },
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout) as unknown
}

describe('files with variables', { timeout: 180_000 }, () => {
  test('have this order: the environment, also if empty, then .env.local, then .env', async () => {
    expect(await readVariables({ FIRST: 'set', SECOND: '' })).toEqual({
      FIRST: 'set',
      SECOND: '',
      THIRD: 'local',
      FOURTH: 'env',
    })
  })

  test('are only .env.test in tests', async () => {
    expect(await readVariables({ NODE_ENV: 'test' })).toEqual({ FIRST: 'test' })
  })

  test('are read by the command line', async () => {
    const folder = await createFolder({ '.env': 'PORT=x\nMAIL_FROM=x\n', '.env.local': 'PORT=3000' })

    const { stdout } = await run(process.execPath, [pathOf('cli'), 'doctor'], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: await temporaryDatabase() },
    }).catch((error: unknown) => error as { stdout: string })

    expect(stdout).toContain('MAIL_FROM: Must be an e-mail address')
    expect(stdout).not.toContain('PORT')
  })

  test('are read by the service, and a file that cannot be read is named', async () => {
    const environment = { PATH: process.env.PATH, DATABASE_URL: 'memory:' }
    const start = (cwd: string) =>
      run(process.execPath, [pathOf('main')], { cwd, env: environment, timeout: 60_000 }).catch(
        (error: unknown) => error as { stderr: string },
      )
    const folder = await createFolder({ '.env': 'PORT=x\n' })
    expect((await start(folder)).stderr).toContain('  PORT: ')

    await rm(join(folder, '.env'))
    await mkdir(join(folder, '.env'))
    expect((await start(folder)).stderr).toContain('.env cannot be read')
  })

  test('are read by tallystick dev, again after a change', async () => {
    const project = await createProject({ page: false })
    const port = await freePort()
    await writeFile(join(project, '.env'), `PORT=${port}\nSERVICE=env\nRELEASE=env\n`)
    const { output } = await startDevelopment(project, { SERVICE: 'set' })
    const status = () => fetch(`http://localhost:${port}/api/status`).then((response) => response.json())
    expect(output()).toContain(`listens on 127.0.0.1:${port}`)
    expect(await status()).toMatchObject({ service: 'set', release: 'env' })

    await writeFile(join(project, '.env.local'), 'RELEASE=local')

    await expect
      .poll(() => status().catch(String), { timeout: 120_000 })
      .toMatchObject({ service: 'set', release: 'local' })
  })

  test('are only .env.test in the tests of a project', async () => {
    const project = await createProject({ page: false })
    for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
    const content = `
      import { expect, test } from 'vitest'
      test('variables', () => {
        expect([process.env.FIRST, process.env.FOURTH]).toEqual(['test', undefined])
      })`
    await writeFile(join(project, 'test/variables.test.ts'), content)

    const words = [resolve('node_modules/vitest/vitest.mjs'), 'run', 'test/variables.test.ts']
    const { stdout } = await run(process.execPath, words, { cwd: project, env: { PATH: process.env.PATH } })

    expect(stdout).toContain('1 passed')
  })
})
