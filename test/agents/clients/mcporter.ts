import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type Connect, followRedirect } from './client.ts'

const program = join(import.meta.dirname, '../node_modules/mcporter/dist/cli.js')

/** Runs the command line mcporter. The person opens the URL that `mcporter auth` prints. */
export const connect: Connect = async ({ url, consent }) => {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-mcporter-'))
  const run = async (words: string[], onOutput?: (text: string) => void) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd: folder,
      env: { HOME: folder, PATH: '', MCPORTER_OAUTH_NO_BROWSER: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let printed = ''
    child.stdout.on('data', (chunk) => {
      output += String(chunk)
    })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        printed += String(chunk)
        onOutput?.(printed)
      })
    const [code] = (await once(child, 'close')) as [number]
    if (code !== 0) throw new Error(printed)
    return output
  }
  await mkdir(join(folder, 'config'))
  const config = { mcpServers: { tallystick: { url, auth: 'oauth' } } }
  await writeFile(join(folder, 'config/mcporter.json'), JSON.stringify(config))
  let isOpened = false
  await run(['auth', 'tallystick', '--no-browser'], (printed) => {
    const [address] = /http\S+\/authorize\?[^\s"]+/.exec(printed) ?? []
    if (address === undefined || isOpened) return
    isOpened = true
    void consent(address).then(followRedirect)
  })
  return {
    list: async () => {
      const { tools } = JSON.parse(await run(['list', 'tallystick', '--json'])) as {
        tools: { name: string }[]
      }
      return tools.map(({ name }) => name)
    },
    call: (name, input) =>
      run(['call', `tallystick.${name}`, '--args', JSON.stringify(input), '--output', 'json']),
    close: () => rm(folder, { recursive: true }),
  }
}
