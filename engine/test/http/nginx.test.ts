import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createRawFetch } from '../fixtures/http.ts'
import { freePort } from '../../dev/testing/postgres.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const port = await freePort()
const folder = mkdtempSync(join(tmpdir(), 'tallystick-nginx-'))

/** nginx that compresses answers itself: it removes `Accept-Encoding` from the request to the service. */
const configuration = `
daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  gzip on;
  gzip_proxied any;
  gzip_min_length 1;
  gzip_types application/json;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${service.origin};
      proxy_set_header Host $http_host;
      proxy_set_header Accept-Encoding "";
    }
  }
}
`

// Debian installs nginx in /usr/sbin, which is not on the PATH of every user.
const nginx = ['nginx', '/usr/sbin/nginx'].find((path) => spawnSync(path, ['-v']).error === undefined)

describe.skipIf(nginx === undefined)('behind nginx that compresses', () => {
  const exchange = createRawFetch({ origin: `http://127.0.0.1:${port}` })

  const createLoan = async (ada: { cookie: string }, remark: string) =>
    service.client(ada).loans.create({ bookId: await addBook(service), remark })

  beforeAll(async () => {
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, configuration)
    const child = spawn(nginx ?? '', ['-c', file, '-e', join(folder, 'error.log')], { stdio: 'inherit' })
    const exit = once(child, 'exit')
    while (!(await exchange('GET', '/api/status').catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
      await sleep(20)
    }
    return async () => {
      child.kill('SIGTERM')
      await exit
      rmSync(folder, { recursive: true })
    }
  })

  test('a loan is changed with the weak ETag from nginx, and only once', async () => {
    const ada = { cookie: await service.signIn(newEmail()) }
    const { id } = await createLoan(ada, 'words '.repeat(100))
    const path = `/api/loans/${id}`
    const change = async (ifMatch: string, remark: string) => {
      const headers = { ...ada, 'content-type': 'application/json', 'if-match': ifMatch }
      return (await exchange('PATCH', path, headers, JSON.stringify({ remark }))).status
    }

    const { headers } = await exchange('GET', path, { ...ada, 'accept-encoding': 'gzip' })
    const tag = String(headers.etag)

    expect(headers['content-encoding']).toBe('gzip')
    expect(tag).toMatch(/^W\/"/)
    expect([await change(tag, 'Two'), await change(tag, 'Three')]).toEqual([200, 412])
    expect(await service.client(ada).loans.get({ id })).toMatchObject({ remark: 'Two' })
  })

  test('an unchanged loan is not sent again for the weak ETag from nginx', async () => {
    const ada = { cookie: await service.signIn(newEmail()) }
    const { id } = await createLoan(ada, 'One')
    const accept = { ...ada, 'accept-encoding': 'gzip' }

    const { headers } = await exchange('GET', `/api/loans/${id}`, accept)
    const again = await exchange('GET', `/api/loans/${id}`, {
      ...accept,
      'if-none-match': String(headers.etag),
    })

    expect([again.status, again.body.length]).toEqual([304, 0])
  })
})
