import { describe, expect, test } from 'vitest'

import { parseDatabaseUrl } from '../../db/connection/database-url.ts'

const serversOf = (url: string) => parseDatabaseUrl(url).servers.map(({ host, port }) => `${host} ${port}`)

describe('the servers of a database URL', () => {
  test.each([
    ['postgres://localhost/x', ['localhost 5432']],
    ['postgres:///x', ['localhost 5432']],
    ['postgresql://me:secret@db.example:6432/x', ['db.example 6432']],
    ['postgres://me@[::1]:6432/x', ['::1 6432']],
    ['postgres://a:1,b,[::1]:3/x', ['a 1', 'b 5432', '::1 3']],
    ['postgres://a,b/x?port=6432', ['a 6432', 'b 6432']],
    ['postgres://a:1,b:2/x?port=3,4', ['a 3', 'b 4']],
    ['postgres://a:/x', ['a 5432']],
    ['postgres://me@:6432/x?host=/tmp', ['/tmp 6432']],
    ['postgres:///x?host=a,b&port=1,2', ['a 1', 'b 2']],
    ['postgres://me@%2Fvar%2Frun%2Fpostgresql:6432/x', ['/var/run/postgresql 6432']],
    ['postgres://me@/x?host=/var/run/postgresql', ['/var/run/postgresql 5432']],
  ])('%s', (url, servers) => {
    expect(serversOf(url)).toEqual(servers)
  })
})

test('user name, password and database are decoded, and may be parameters', () => {
  const driver = { user: 'me', pass: 'p@s/s%', database: 'x' }

  expect(parseDatabaseUrl('postgres://me:p%40s%2Fs%25@localhost/x').driver).toMatchObject(driver)
  expect(
    parseDatabaseUrl('postgres://localhost?user=me&password=p%40s%2Fs%25&dbname=x').driver,
  ).toMatchObject(driver)
  expect(parseDatabaseUrl('postgres://me:p@s:t@localhost/x').driver).toMatchObject({ pass: 'p@s:t' })
  expect(parseDatabaseUrl('postgres://me:a%2Fb@localhost/a%40 b').driver).toMatchObject({
    pass: 'a/b',
    database: 'a@ b',
  })
  expect(parseDatabaseUrl('postgres://localhost/x?user=r%2Bs&password=p+s').driver).toMatchObject({
    user: 'r+s',
    pass: 'p+s',
  })
})

test('parameters of libpq, Prisma and poolers without an effect are listed', () => {
  const used = 'application_name=a&options=-c%20geqo%3Doff&sslmode=require&uselibpqcompat=true&schema=public'
  const ignored = ['channel_binding', 'keepalives', 'target_session_attrs', 'pgbouncer', 'connect_timeout']
  const query = ignored.map((name) => `${name}=1`).join('&')

  const parsed = parseDatabaseUrl(`postgres://localhost/x?${used}&${query}`)

  expect(parsed.ignored).toEqual(ignored)
  expect(parseDatabaseUrl('postgres://localhost/x?secret&pgbouncer=1').ignored).toEqual([
    'pgbouncer',
    '1 unknown',
  ])
  expect(parsed.startup).toEqual({ application_name: 'a', options: '-c geqo=off' })
  expect(parseDatabaseUrl('postgres://localhost/x?schema=other').ignored).toEqual(['schema'])
})

test.each([
  ['sslmode=disable&sslmode=require', { rejectUnauthorized: false, host: 'localhost' }],
  ['sslmode=prefer', 'prefer'],
  ['sslmode=disable&ssl=false', false],
  ['sslmode=require&ssl=true', { rejectUnauthorized: false, host: 'localhost' }],
  ['ssl=true', { host: 'localhost' }],
  ['sslnegotiation=direct', { host: 'localhost' }],
  ['', undefined],
])('the TLS parameters are read like libpq does, of repeated parameters the last: %s', (query, ssl) => {
  expect(parseDatabaseUrl(`postgres://localhost/x?${query}`).driver.ssl).toEqual(ssl)
})

test('TLS is off for Unix sockets', () => {
  expect(parseDatabaseUrl('postgres:///x?host=/tmp&sslmode=require').driver.ssl).toBe(false)
})

describe('an error names the parameter, and not the password', () => {
  test.each([
    ['mysql://me:hush@localhost/x', /postgres:/],
    ['postgres://me:hu/sh@localhost/x', /percent-encode/],
    ['postgres://me:hush@localhost:99999/x', /port/],
    ['postgres://me:hush@%ZZ/x', /host/],
    ['postgres://me:hush@/x?host=a,b&port=1,2,3', /port/],
    ['postgres://me:hush@localhost/x?sslmode=hush', /sslmode/],
    ['postgres://me:hush@localhost/x?ssl=hush', /ssl/],
    ['postgres://me:hush@localhost/x?sslmode=verify-ca', /sslmode.*sslrootcert/],
    ['postgres://me:hush@localhost/x?sslmode=verify-full&sslrootcert=/nowhere/hush', /sslrootcert/],
    ['postgres://me:hush@localhost/x?sslcert=/nowhere/hush', /sslcert/],
    ['postgres://me:hush@localhost/x?sslmode=constructor', /sslmode/],
    ['postgres://me:hush@localhost/x?sslmode=verify-ca&sslrootcert=', /sslmode.*sslrootcert/],
    ['postgres://me:hush@localhost/x?sslmode=disable&ssl=true', /ssl.*contradicts/],
    ['postgres://me:hush@127.0.0.1,127.0.0.2/x?sslmode=verify-full', /sslmode.*IP addresses/],
    ['postgres://me:hush@localhost/x?hostaddr=10.0.0.1', /hostaddr/],
    ['postgres://me:hush%E0%A4@localhost/x', /percent-encode/],
    ['postgres://me:12?hush@127.0.0.1/x', /percent-encode/],
    ['postgres://me:p@ss/hush@127.0.0.1/x', /percent-encode/],
  ])('%s', (url, problem) => {
    expect(() => parseDatabaseUrl(url)).toThrow(problem)
    expect(() => parseDatabaseUrl(url)).not.toThrow(/hu/)
  })
})
