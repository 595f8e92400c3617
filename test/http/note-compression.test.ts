import { describe, expect, test } from 'vitest'

import { createRawFetch } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const exchange = createRawFetch(service)
const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })

describe('procedures', () => {
  test('do not compress notes of the caller together with notes of other people', async () => {
    const email = newEmail()
    const [ada, bob] = [await signIn(email), await signIn()]
    await service.client(ada).notes.create({ title: 'Own', body: 'The same words. '.repeat(200) })
    const list = () => exchange('GET', '/api/notes', { ...ada, 'accept-encoding': 'gzip, deflate, br' })

    const own = await list()
    const { id } = await service.client(bob).notes.create({ title: 'Guess', body: '' })
    await service.client(bob).notes.share({ id, email, role: 'reader' })
    const mixed = await list()

    expect(own.headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'no-store' })
    expect(mixed.headers['cache-control']).toBe('no-store, no-transform')
    expect(mixed.headers).not.toHaveProperty('content-encoding')
    expect(mixed.body.toString()).toContain('Guess')
  })
})
