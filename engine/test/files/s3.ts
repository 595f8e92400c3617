import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import S3rver from 's3rver'
import { afterAll } from 'vitest'

import { refusalOf } from './sigv4.ts'

export const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret key of the tests' }
export const BUCKET = 'files'

/** Creates a folder for the tests of a file. */
export function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-files-'))
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/**
 * Starts a server that speaks S3, until the last test: s3rver, which serves unsigned requests, behind a check of the signatures. The list `refused` has the
 * requests that the check has refused. No request is answered before the promise `ready`.
 */
export async function startS3() {
  const s3rver = new S3rver({
    address: '127.0.0.1',
    port: 0,
    directory: createFolder(),
    silent: true,
    configureBuckets: [{ name: BUCKET }],
  })
  const { port } = await s3rver.run()
  const state = {
    now: () => new Date(),
    requests: [] as string[],
    refused: [] as string[],
    ready: Promise.resolve(),
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const { method = '', url: target = '' } = request
    const headers = request.headers as Record<string, string>
    state.requests.push(`${method} ${target}`)
    await state.ready
    const code = refusalOf({ method, target, headers, body }, credentials, state.now())
    if (code !== undefined) {
      state.refused.push(code)
      response.writeHead(403, { 'content-type': 'application/xml' })
      response.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`)
      return
    }
    const { authorization: _, ...unsigned } = headers
    const { pathname, searchParams } = new URL(target, 'http://s3')
    const query = [...searchParams].filter(([name]) => !/^(X-Amz|response)-/.test(name))
    const path = `${pathname}?${new URLSearchParams(query).toString()}`
    const sent = sendRequest({ host: '127.0.0.1', port, method, path, headers: unsigned }).end(body)
    const [received] = (await once(sent, 'response')) as [IncomingMessage]
    // s3rver refuses these parameters without a signature.
    const overridden = [...searchParams].flatMap(([name, value]) =>
      name.startsWith('response-') ? [[name.replace('response-', ''), value]] : [],
    )
    response.writeHead(received.statusCode ?? 500, {
      ...received.headers,
      ...(Object.fromEntries(overridden) as Record<string, string>),
    })
    await pipeline(received, response)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterAll(async () => {
    server.close()
    server.closeAllConnections()
    await s3rver.close()
  })
  const options = { region: 'eu-central-1', endpoint: origin, forcePathStyle: true, credentials }
  return { state, origin, options }
}
