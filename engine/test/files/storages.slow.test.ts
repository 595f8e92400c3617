import { randomUUID } from 'node:crypto'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test, vi } from 'vitest'

import { type Files, openFiles } from '../../http/files/index.ts'
import { temporaryFolder } from '../fixtures/migrations.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { BUCKET, createFolder, startS3 } from './s3.ts'

const s3 = await startS3()
const folder = join(createFolder(), 'new')

const storages: [string, () => Promise<Files>][] = [
  ['a folder', () => openFiles(folder)],
  ['a bucket', () => openFiles(`s3://${BUCKET}`, s3.options)],
  ['a part of a bucket', () => openFiles(`s3://${BUCKET}/a part/of it`, s3.options)],
]

const MEGABYTE = 2 ** 20
const streamOf = (...parts: (string | Buffer)[]) => new Blob(parts).stream() as ReadableStream<Uint8Array>
const textOf = async (body: ReadableStream<Uint8Array> | undefined) => body && new Response(body).text()

async function keysOf(files: Files) {
  const keys: string[] = []
  for await (const { key } of files.list()) keys.push(key)
  return keys
}

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern)

/** A body that fails after some bytes. */
const failing = (bytes: number) => {
  let rest = bytes
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (rest <= 0) controller.error(new Error('The body ended early'))
      else controller.enqueue(Buffer.alloc(Math.min(65_536, rest)))
      rest -= 65_536
    },
  })
}

describe.each(storages)('%s', (_, openStorage) => {
  test('returns what it has stored, and ranges of it', async () => {
    const files = await openStorage()
    const { key, size } = await files.put(streamOf('Grüße', ' aus der Datei'))

    expect(size).toBe(21)
    expect(await textOf(await files.get(key))).toBe('Grüße aus der Datei')
    expect(await textOf(await files.get(key, { start: 0, end: 1 }))).toBe('Gr')
    expect(await textOf(await files.get(key, { start: 16, end: 20 }))).toBe('Datei')
    expect(await keysOf(files)).toContain(key)
  })

  test('stores an empty file, and one of several parts', async () => {
    const files = await openStorage()
    const bytes = Buffer.alloc(11 * MEGABYTE, 'abcdefg')

    const empty = await files.put(streamOf())
    const large = await files.put(streamOf(bytes))

    expect([empty.size, large.size]).toEqual([0, bytes.length])
    expect(await textOf(await files.get(empty.key))).toBe('')
    expect(await textOf(await files.get(large.key))).toBe(bytes.toString())
  })

  test('stores concurrent files under keys of their own', async () => {
    const files = await openStorage()

    const stored = await Promise.all(['one', 'two'].map((text) => files.put(streamOf(text))))

    const texts = await Promise.all(stored.map(async ({ key }) => textOf(await files.get(key))))
    expect(texts).toEqual(['one', 'two'])
  })

  test.each([1, 6 * MEGABYTE])('stores nothing if the body fails after %d bytes', async (bytes) => {
    const files = await openStorage()
    const before = await keysOf(files)

    await expect(files.put(failing(bytes))).rejects.toThrow('The body ended early')

    expect(await keysOf(files)).toEqual(before)
  })

  test('removes a file, also twice', async () => {
    const files = await openStorage()
    const { key } = await files.put(streamOf('text'))

    await files.remove(key)
    await files.remove(key)

    expect(await files.get(key)).toBeUndefined()
    expect(await keysOf(files)).not.toContain(key)
  })

  test('has no file with an unknown key', async () => {
    expect(await (await openStorage()).get(randomUUID())).toBeUndefined()
  })

  test.each(['../secret', '/etc/passwd', 'a', '', `${randomUUID()}/../a`, `${randomUUID()}\0`, '.'])(
    'refuses a key that is no UUID: %s',
    async (key) => {
      const files = await openStorage()

      await expect((async () => files.get(key))()).rejects.toThrow('must be a UUID')
      await expect((async () => files.remove(key))()).rejects.toThrow('must be a UUID')
    },
  )

  test('releases what it reads if the reader leaves', async () => {
    const files = await openStorage()
    const { key } = await files.put(streamOf(Buffer.alloc(8 * MEGABYTE)))

    const body = await files.get(key)
    const reader = body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await files.remove(key)

    expect(await files.get(key)).toBeUndefined()
  })
})

test.runIf(process.platform === 'linux').each(storages)(
  '%s leaves nothing open if the reader leaves before the first read',
  async (_, openStorage) => {
    const files = await openStorage()
    const { key } = await files.put(streamOf(Buffer.alloc(8 * MEGABYTE)))
    const countOpen = async () => (await readdir('/proc/self/fd')).length
    const before = await countOpen()

    for (let count = 0; count < 20; count++) await (await files.get(key))?.cancel()

    await vi.waitFor(async () => {
      expect(await countOpen()).toBeLessThan(before + 10)
    }, PATIENCE)
  },
)

describe('a folder', () => {
  test('is readable only for the account of the process', async () => {
    const files = await openFiles(folder)
    const { key } = await files.put(streamOf('text'))

    const modes = await Promise.all([folder, join(folder, key)].map(async (path) => (await stat(path)).mode))
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o600])
  })

  test('lists no files of others, and is empty if it does not exist', async () => {
    const own = temporaryFolder()
    await writeFile(join(own, 'other.txt'), 'text')

    expect(await keysOf(await openFiles(own))).toEqual([])
    expect(await keysOf(await openFiles(join(own, 'none')))).toEqual([])
    expect(await readdir(own)).toEqual(['other.txt'])
  })
})

describe('a bucket', () => {
  test('keeps the objects of its parts apart', async () => {
    const [all, part] = await Promise.all([
      openFiles(`s3://${BUCKET}`, s3.options),
      openFiles(`s3://${BUCKET}/apart`, s3.options),
    ])
    const { key } = await part.put(streamOf('text'))

    expect(await all.get(key)).toBeUndefined()
    expect(await keysOf(all)).not.toContain(key)
    expect(s3.state.requests.join('\n')).toContain(`PUT /${BUCKET}/apart/${key}`)
  })

  test('receives a large file in parts, and the removal of the parts if the body fails', async () => {
    const files = await openFiles(`s3://${BUCKET}`, s3.options)
    s3.state.requests.length = 0

    await expect(files.put(failing(6 * MEGABYTE))).rejects.toThrow('The body ended early')

    const [begun, part, removed] = s3.state.requests
    expect([begun, part]).toMatchObject([/^POST .*\?uploads/, /^PUT .*partNumber=1/].map(matching))
    expect(removed).toMatch(/^DELETE .*uploadId=/)
  })

  test('refuses another secret, and an unsigned request', async () => {
    const other = { ...s3.options, credentials: { ...s3.options.credentials, secretAccessKey: 'other' } }
    const files = await openFiles(`s3://${BUCKET}`, other)
    s3.state.refused.length = 0

    await expect(files.put(streamOf('text'))).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' })
    expect((await fetch(`${s3.origin}/${BUCKET}?list-type=2`)).status).toBe(403)
    expect(s3.state.refused).toEqual(['SignatureDoesNotMatch', 'AccessDenied'])
  })
})
