import { eq } from 'drizzle-orm'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { FolderInUse } from '../../db/connection/embedded.ts'
import { listenForCommands } from '../../operator/command-server.ts'
import { BACKUP, requestFromService, socketOf } from '../../operator/service-socket.ts'
import { createLog } from '../../telemetry/log.ts'
import { newEmail, startService } from '../fixtures/service.ts'
import { app } from '../library/app.ts'

const service = await startService()

/** Creates a data folder, and the context of a command that uses the folder. */
async function dataFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-socket-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const context = {
    loadApp: () => Promise.resolve(app),
    environment: { DATA_DIR: folder },
    print: () => undefined,
  }
  return { socket: socketOf(join(folder, 'db')), databaseUrl: join(folder, 'db'), context }
}

describe('the socket for commands', () => {
  test('keeps line breaks of a name inside a line', async () => {
    const { databaseUrl, context } = await dataFolder()
    const { db, settings } = service.services
    const email = newEmail()
    await service.signIn(email)
    await db.update(users).set({ name: 'Ada\nforged', role: 'admin' }).where(eq(users.email, email))
    const server = await listenForCommands(app, {
      ...service.services,
      settings: { ...settings, databaseUrl },
    })
    onTestFinished(() => void server?.close())

    const answer = await requestFromService(context, new FolderInUse(), 'admin list')

    expect(JSON.parse(answer.toString())).toContain(`${email}  Ada\nforged`)
  })

  test('is not necessary: if it cannot be opened, the service starts and logs a warning', async () => {
    const { databaseUrl, socket } = await dataFolder()
    await mkdir(socket)
    const { settings } = service.services
    const lines: string[] = []
    const log = createLog({ ...settings, logLevel: 'warn' }, { write: (line) => void lines.push(line) })

    const server = await listenForCommands(app, {
      ...service.services,
      log,
      settings: { ...settings, databaseUrl },
    })

    expect(server).toBeUndefined()
    expect(lines.join('')).toContain('the socket cannot be opened')
  })

  test('that closes before the answer is reported with the next step', async () => {
    const { context, socket } = await dataFolder()
    const server = createServer((connection) => connection.once('data', () => connection.destroy())).listen(
      socket,
    )
    onTestFinished(() => void server.close())
    await once(server, 'listening')

    await expect(requestFromService(context, new FolderInUse(), BACKUP)).rejects.toThrow(
      'The service ended before it answered',
    )
  })
})
