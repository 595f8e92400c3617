import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { createFetch, validationError } from '../fixtures/http.ts'
import { startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: ROOT })
const call = createFetch(service)
const { db } = service.services
const cookie = await service.signIn(ROOT)

const list = (query: string) => call('GET', `/api/auth/admin/list-users?${query}`, undefined, { cookie })
const emailsOf = ({ body }: { body: unknown }) =>
  (body as { users: { email: string }[] }).users.map(({ email }) => email)

/** Creates three users with a common part in their addresses. */
async function createUsers() {
  const marker = crypto.randomUUID()
  const emails = ['a', 'b', 'c'].map((letter) => `${letter}-${marker}@example.com`)
  for (const email of emails) await service.signIn(email)
  return { emails, search: `searchField=email&searchOperator=contains&searchValue=${marker}&sortBy=email` }
}

describe('the list of users', () => {
  test('has pages and an order', async () => {
    const { emails, search } = await createUsers()

    expect(emailsOf(await list(`${search}&sortDirection=asc`))).toEqual(emails)
    expect(emailsOf(await list(`${search}&sortDirection=desc`))).toEqual([...emails].reverse())
    expect(await list(`${search}&limit=1&offset=1`)).toMatchObject({
      body: { users: [{ email: emails[1] }], total: 3, limit: 1, offset: 1 },
    })
  })

  test.each([
    ['filterField=role&filterValue=admin', 1],
    ['filterField=role&filterValue=admin&filterOperator=ne', 2],
    ['filterField=role&filterOperator=in&filterValue=admin', 1],
    ['filterField=role&filterOperator=in&filterValue=admin&filterValue=user', 3],
    ['filterField=role&filterOperator=not_in&filterValue=admin', 2],
    ['filterField=role&filterOperator=starts_with&filterValue=adm', 1],
    ['filterField=banned&filterValue=true', 2],
    ['filterField=banned&filterValue=false', 1],
    ['filterField=banned&filterOperator=ne&filterValue=true', 1],
    ['filterField=emailVerified&filterValue=true', 3],
    ['filterField=banReason&filterOperator=ends_with&filterValue=100%25', 1],
    ['filterField=banReason&filterOperator=contains&filterValue=_', 0],
    ['filterField=name&filterValue=100%25', 0],
    ['filterField=id&filterOperator=gte&filterValue=', 3],
  ])('is filtered by %s', async (filter, count) => {
    const { emails, search } = await createUsers()
    const [ada = '', bob = '', eve = ''] = emails
    await db.update(users).set({ role: 'admin' }).where(eq(users.email, ada))
    await db.update(users).set({ banned: true, banReason: 'Sure to 100%' }).where(eq(users.email, bob))
    await db.update(users).set({ banned: true, banReason: '100 times' }).where(eq(users.email, eve))

    const { body } = await list(`${search}&${filter}`)

    expect(body).toMatchObject({ total: count })
    expect(emailsOf({ body })).toHaveLength(count)
  })

  test('is filtered by e-mail address if the filter names no field', async () => {
    const { emails } = await createUsers()

    expect(emailsOf(await list(`filterValue=${emails[0] ?? ''}`))).toEqual([emails[0]])
  })

  test.each([
    ['100%25', 1],
    ['%25', 1],
    ['_', 1],
    ['1_0', 0],
    ['%5C', 1],
    ['%27', 1],
    ['%5C%25', 0],
  ])('is searched for %s literally, without wildcards', async (value, count) => {
    const { emails } = await createUsers()
    const [ada = ''] = emails
    const name = `100% of_it's \\ ${ada}`
    await db.update(users).set({ name: 'Without' })
    await db.update(users).set({ name }).where(eq(users.email, ada))

    const { body } = await list(`searchField=name&searchValue=${value}`)

    expect(body).toMatchObject({ total: count, users: count === 1 ? [{ name }] : [] })
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=1e400', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=9999999999999999999', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=-1', 'offset'],
    ['sortBy=nope', 'sortBy'],
    ['sortBy=image', 'sortBy'],
    ['sortBy=constructor', 'sortBy'],
    ['sortBy=email;drop', 'sortBy'],
    ['sortDirection=up', 'sortDirection'],
    ['searchField=role&searchValue=x', 'searchField'],
    ['searchField=email&searchOperator=like&searchValue=x', 'searchOperator'],
    [`searchValue=${'x'.repeat(255)}`, 'searchValue'],
    ['filterField=password&filterValue=x', 'filterField'],
    ['filterField=createdAt&filterOperator=lt&filterValue=2030-01-01', 'filterField'],
    ['filterField=__proto__&filterValue=x', 'filterField'],
    ['filterField=role&filterOperator=like&filterValue=x', 'filterOperator'],
    ['filterField=role', 'filterValue'],
    ['filterOperator=ne', 'filterValue'],
    ['filterField=role&filterValue=user&filterValue=admin', 'filterValue'],
    ['filterField=banned&filterValue=yes', 'filterValue'],
    ['filterField=banned&filterValue=true&filterOperator=contains', 'filterValue'],
    ['filterFeild=role&filterValue=x', 'filterFeild'],
    ['page=2', 'page'],
  ])('rejects the query %s', async (query, path) => {
    const { body } = await list(query)

    expect(body).toEqual(validationError(path, expect.any(String)))
  })

  const columns = ['id', 'name', 'email', 'emailVerified', 'role', 'banned', 'banReason', 'banExpires']
  test.each([
    'limit=1000&offset=999999999',
    'limit=1',
    'searchField=email',
    'searchField=name&searchValue=',
    ...[...columns, 'createdAt', 'updatedAt'].map((column) => `sortBy=${column}`),
  ])('accepts the query %s', async (query) => {
    expect((await list(query)).status).toBe(200)
  })
})
