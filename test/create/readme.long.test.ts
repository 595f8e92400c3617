import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

import { executeDocument } from '../fixtures/document.ts'
import { run } from '../fixtures/installation.ts'
import { edit } from '../fixtures/newer-clone.ts'

test('README.md starts the service, and creates and calls a resource', { timeout: 900_000 }, async () => {
  const data = await mkdtemp(join(tmpdir(), 'tallystick-readme-'))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const replacements = {
    // The packages of this repository are installed.
    'npm ci && npm start': `DATA_DIR=${data} npm start`,
    'npx --yes tsx': resolve('node_modules/.bin/tsx'),
    '.data/cookies': join(data, 'cookies'),
    'code=123456': `until code=$(grep -ohE '^Subject: [0-9]{6}' ${data}/outbox/*.eml | grep -oE '[0-9]+'); do sleep 0.1; done`,
  }
  const seen: string[] = []

  await executeDocument('README.md', replacements, async (body, { project, origin, output }) => {
    if (body.includes('npm start')) {
      const page = await fetch(origin)
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Tallystick')])
      expect((await fetch(`${origin}/docs`)).status).toBe(200)
      seen.push('start')
    }
    if (body.includes('const ping =')) {
      // What the sentence above the file says.
      await edit(join(project, 'src/app.ts'), (code) =>
        `import { ping } from './doors.ts'\n${code}`.replace(
          '  migrationsFolder,',
          '$&\n  endpoints: { ping },',
        ),
      )
      const ask = () => fetch(`${origin}/ping`).then((response) => response.text(), String)
      await expect.poll(ask).toBe('pong')
      await run('npm', ['run', 'check'], { cwd: project })
      seen.push('door')
    }
    const expected = {
      'api/counter/increment': '"taskCount":1}',
      '/tsx call.ts': 'Dune',
      '/mcp -H': '"title":"Ulysses"',
    }
    for (const [command, text] of Object.entries(expected))
      if (body.includes(command)) {
        expect(output().split('\n').slice(-12).join('\n')).toContain(text)
        seen.push(command)
      }
  })

  expect(seen).toEqual(['start', 'api/counter/increment', 'door', '/tsx call.ts', '/mcp -H'])
})
