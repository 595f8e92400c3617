import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { sessions } from '../../db/accounts/sessions.ts'
import { addBook } from '../fixtures/books.ts'
import { createFetch } from '../fixtures/http.ts'
import { newEmail, startService, transports } from '../fixtures/service.ts'
import type { Client } from '../library/contract.ts'

const service = await startService()
const call = createFetch(service)
const { db } = service.services
const bookId = await addBook(service)

/**
 * The service looks up the session for every request: a cached result of an earlier request never authorizes a request.
 */
describe.each(transports)('a caller with an earlier successful request, %s', (_, connect) => {
  /** Creates Ada with a loan, a shelf and one session, and Bob with two shelves. Bob shares one shelf with Ada. */
  async function createFixture() {
    const [email, other] = [newEmail(), newEmail()]
    const [cookie, theirs] = [await service.signIn(email), await service.signIn(other)]
    const [ada, bob] = [connect(service, { cookie }), connect(service, { cookie: theirs })]
    const loan = await ada.loans.create({ bookId, remark: 'Hers' })
    for (const client of [ada, bob]) await client.shelves.create({ name: 'Own' })
    const given = await bob.shelves.create({ name: 'Given' })
    await bob.shelves.share({ id: given.id, email, role: 'reader' })
    const [{ id: adaId }, { id: bobId }] = [await ada.account.get(), await bob.account.get()]
    // Sends successful requests with the valid session. If the service cached their caller, later requests of a test
    // would use the outdated entry, and the test would fail.
    for (const read of reads(loan.id)) await read(ada)
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, adaId))
    return { email, cookie, ada, bob, loan, adaId, bobId, token: session?.token ?? '' }
  }

  const reads = (id: number): ((client: Client) => Promise<unknown>)[] => [
    ({ account }) => account.get(),
    ({ loans }) => loans.list({}),
    ({ loans }) => loans.get({ id }),
    ({ shelves }) => shelves.list({}),
    ({ sessions }) => sessions.list({}),
  ]

  const names = async (client: Client) => (await client.shelves.list({})).shelves.map(({ name }) => name)

  test('is rejected after the end of the session', async () => {
    const { cookie, ada, loan, token } = await createFixture()
    await ada.loans.create({ bookId, remark: 'One more' })

    await db.delete(sessions).where(eq(sessions.token, token))

    const answer = await call('GET', '/api/loans?limit=1', undefined, { cookie })
    expect([answer.status, answer.headers.get('link')]).toEqual([401, null])
    for (const read of reads(loan.id)) await expect(read(ada)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('is rejected while the person is banned', async () => {
    const { ada, loan, adaId } = await createFixture()

    await db.update(users).set({ banned: true }).where(eq(users.id, adaId))

    for (const read of reads(loan.id)) await expect(read(ada)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('sees the shelves that are shared with the current address', async () => {
    const { ada, bob, adaId } = await createFixture()
    const address = newEmail()
    const { id } = await bob.shelves.create({ name: 'Given to the new address' })
    await bob.shelves.share({ id, email: address, role: 'reader' })

    await db.update(users).set({ email: address }).where(eq(users.id, adaId))

    expect(await names(ada)).toEqual(['Given to the new address', 'Own'])
    expect(await ada.account.get()).toMatchObject({ email: address })
  })

  test('is identified as the current owner of the session', async () => {
    const { ada, bob, loan, bobId, token } = await createFixture()

    await db.update(sessions).set({ userId: bobId }).where(eq(sessions.token, token))

    expect(await ada.account.get()).toEqual(await bob.account.get())
    expect(await ada.shelves.list({})).toEqual(await bob.shelves.list({}))
    expect(await ada.loans.list({})).toEqual({ loans: [] })
    await expect(ada.loans.get({ id: loan.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('changes nothing after the end of the session', async () => {
    const { ada, loan, adaId, token } = await createFixture()
    await db.delete(sessions).where(eq(sessions.token, token))

    for (const change of [
      () => ada.loans.update({ id: loan.id, remark: 'Changed' }),
      () => ada.loans.create({ bookId }),
      () => ada.loans.return({ id: loan.id }),
    ])
      await expect(change()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })

    const cookie = await service.signIn((await emailOf(adaId)) ?? '')
    expect((await connect(service, { cookie }).loans.list({})).loans).toMatchObject([{ remark: 'Hers' }])
  })

  const emailOf = async (id: string) =>
    (await db.select({ email: users.email }).from(users).where(eq(users.id, id))).at(0)?.email
})
