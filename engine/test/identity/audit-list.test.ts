import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'

import { insert } from '../../db/accounts/audit.ts'
import { users } from '../../db/accounts/users.ts'
import { describeTransports, newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const { db } = service.services

const setRole = (email: string, role: string) => db.update(users).set({ role }).where(eq(users.email, email))

describeTransports(service, ({ person }) => {
  async function administrator() {
    const email = newEmail()
    const client = await person(email)
    await setRole(email, 'admin')
    const { id } = await client.account.get()
    return { client, email, id }
  }

  test('audit.list shows who did what, newest first, with addresses', async () => {
    const { client, email, id } = await administrator()
    const target = newEmail()
    const ada = await person(target)
    const { id: adaId } = await ada.account.get()
    await ada.account.export()

    const { entries } = await client.audit.list({ person: target })

    expect(entries.map(({ action }) => action)).toEqual(['admin.list-audit', 'account.export', 'sign-in'])
    expect(entries[0]).toMatchObject({
      outcome: 'accepted',
      actor: { id, email },
      subject: { id: adaId, email: target },
    })
    expect(Math.abs((entries[1]?.at ?? 0) - Date.now() / 1000)).toBeLessThan(30)
  })

  test('audit.list names the browser and the system of an entry', async () => {
    const { client, email, id } = await administrator()
    const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const entry = {
      action: 'sign-in',
      outcome: 'refused',
      actor: null,
      subject: id,
      ipAddress: null,
    } as const
    await insert(db, { ...entry, userAgent: null })
    await insert(db, { ...entry, userAgent })

    expect((await client.audit.list({ person: email, outcome: 'refused' })).entries).toMatchObject([
      { userAgent, browser: 'Firefox', os: 'Linux' },
      { userAgent: null, browser: 'Unknown', os: 'Unknown' },
    ])
  })

  test('audit.list shows deleted people under a pseudonym', async () => {
    const { client } = await administrator()
    const target = newEmail()
    await (await person(target)).account.delete({ email: target })

    const { entries } = await client.audit.list({ limit: 5 })

    const deletion = entries.find(({ action }) => action === 'account.delete')
    expect(deletion?.subject).toEqual({ id: expect.stringMatching(/^deleted:/) as string, email: null })
  })

  test('audit.list has pages', async () => {
    const { client } = await administrator()
    await person()
    const seen: number[] = []
    let cursor: string | undefined
    for (let page = 0; page < 3; page++) {
      const reply = new Map<string, string | string[]>()
      const { entries } = await client.audit.list({ limit: 1, cursor }, { context: { reply } })
      seen.push(...entries.map(({ id }) => id))
      cursor = /cursor=([\w-]+)/.exec(String(reply.get('link')))?.[1]
      expect(cursor).toBeDefined()
    }

    // Each call adds an entry to the beginning of the list.
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
    expect(new Set(seen).size).toBe(3)
  })

  test('audit.list filters by action and outcome, also on the next page', async () => {
    const { client, email } = await administrator()
    for (let index = 0; index < 2; index++)
      await client.audit.list({ person: newEmail() }).catch(() => undefined)
    await client.account.export()
    const refused = { action: 'admin.list-audit', outcome: 'refused' } as const

    const exports = await client.audit.list({ person: email, action: 'account.export' })
    const reply = new Map<string, string | string[]>()
    const first = await client.audit.list({ ...refused, limit: 1 }, { context: { reply } })
    const next = new URLSearchParams(/\?([^>]*)/.exec(String(reply.get('link')))?.[1])
    const second = await client.audit.list({ ...refused, limit: 1, cursor: next.get('cursor') ?? '' })

    expect(exports.entries.map(({ action }) => action)).toEqual(['account.export'])
    expect(Object.fromEntries(next)).toMatchObject(refused)
    expect([...first.entries, ...second.entries]).toMatchObject([refused, refused])
    expect(first.entries).not.toEqual(second.entries)
    expect((await client.audit.list({ person: email, outcome: 'refused' })).entries).toHaveLength(2)
  })

  test('audit.list refuses an unknown action or outcome', async () => {
    const { client } = await administrator()

    for (const [name, value] of Object.entries({ action: 'sign-out', outcome: 'unknown' }))
      await expect(client.audit.list({ [name]: value })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        data: { issues: [{ path: name }] },
      })
  })

  test('audit.list finds an address in any case', async () => {
    const { client, email } = await administrator()

    const { entries } = await client.audit.list({ person: ` ${email.toUpperCase()} ` })

    expect(entries.map(({ action }) => action)).toEqual(['admin.list-audit', 'sign-in'])
  })

  test('audit.list refuses an address without an account, and records the refusal', async () => {
    const { client, id } = await administrator()

    await expect(client.audit.list({ person: newEmail() })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      data: { issues: [{ path: 'person' }] },
    })
    const { entries } = await client.audit.list({ limit: 2 })
    expect(entries[1]).toMatchObject({
      action: 'admin.list-audit',
      outcome: 'refused',
      actor: { id },
      subject: null,
    })
  })

  test('audit.list refuses people, and administrators who have lost the role', async () => {
    const { client, email } = await administrator()
    await client.audit.list()
    await setRole(email, 'user')

    await expect(client.audit.list()).rejects.toMatchObject({ code: 'FORBIDDEN', status: 403 })
    await expect((await person()).audit.list()).rejects.toMatchObject({ code: 'FORBIDDEN', status: 403 })
  })
})
