import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { createProject, startDevelopment } from '../fixtures/development.ts'

/** Sends a request with any `Host`, which fetch() does not set. */
async function send(port: number, path: string, headers: Record<string, string>, method = 'GET') {
  const sent = request({ host: '127.0.0.1', port, path, method, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

const accepts = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy()
      resolve(true)
    }).once('error', () => {
      resolve(false)
    })
  })

/**
 * Listens on a port of a process as soon as the process has closed its own server on the port, so that the process finds
 * the port free and then occupied.
 */
const takePort = (port: number) => `
  import { Server } from 'node:net'
  const { close } = Server.prototype
  Server.prototype.close = function (...parameters) {
    if (this.address()?.port === ${port}) {
      Server.prototype.close = close
      this.once('close', () => new Server().listen(${port}, '127.0.0.1').unref())
    }
    return close.apply(this, parameters)
  }`

describe('tallystick dev with a page', { timeout: 180_000 }, () => {
  test('serves the page at HOST and the hosts of BASE_URL, and lets TRUSTED_ORIGINS decide', async () => {
    const { output } = await startDevelopment(await createProject({ page: true }), {
      HOST: '0.0.0.0',
      PORT: '0',
      BASE_URL: 'https://abc.example',
      TRUSTED_ORIGINS: 'http://localhost:5173',
    })
    expect(output()).toMatch(/ listens on 127\.0\.0\.1:[1-9]\d* as https:\/\/abc\.example\n/)
    const port = Number(/^The page is at 0\.0\.0\.0:(\d+)$/m.exec(output())?.[1])
    const servicePort = Number(/ listens on 127\.0\.0\.1:(\d+) as/.exec(output())?.[1])

    // Every address of 127.0.0.0/8 is this machine on Linux.
    if (process.platform === 'linux') {
      expect(await accepts('127.0.0.2', port)).toBe(true)
      expect(await accepts('127.0.0.2', servicePort)).toBe(false)
    }
    const page = { accept: 'text/html' }
    expect(await send(port, '/', { ...page, host: 'abc.example' })).toMatchObject({ status: 200 })
    expect(await send(port, '/', { ...page, host: 'evil.example' })).toMatchObject({ status: 403 })
    const preflight = (origin: string) =>
      send(port, '/api/ideas', { origin, 'access-control-request-method': 'POST' }, 'OPTIONS')
    expect((await preflight('http://localhost:5173')).headers).toMatchObject({
      'access-control-allow-origin': 'http://localhost:5173',
      'access-control-allow-credentials': 'true',
    })
    expect((await preflight('http://localhost:4000')).headers).not.toHaveProperty(
      'access-control-allow-origin',
    )
  })

  test.each([
    ['of the page', 0],
    ['of the service', 1],
  ])('ends if another program takes the port %s after the check', async (_, offset) => {
    const project = await createProject({ page: true })
    const port = await freePort()
    const script = join(project, 'take-port.mjs')
    await writeFile(script, takePort(port + offset))

    const { output, exit } = await startDevelopment(
      project,
      { PORT: String(port) },
      { flags: ['--import', script] },
    )

    const reason = `127.0.0.1:${port + offset}: another program uses this port.`
    await expect.poll(output).toContain(reason)
    expect(await exit).toEqual([1, null])
  })
})
