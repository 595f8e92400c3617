import { os } from '@orpc/server'
import { type AppMiddleware, type AppServices, type Context, defineApp } from 'tallystick'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { definition } from './tracker/app.ts'
import { projects, projectsTopic } from './tracker/contract.ts'

/** What the middlewares have seen, in order. */
const seen: unknown[] = []

const outer = os.$context<Context>().middleware(async ({ path, next }) => {
  seen.push(`before ${path.join('.')}`)
  const result = await next()
  seen.push(`after ${path.join('.')}`)
  return result
})

/** What the middleware does instead of calling the handler, by the name of a project. */
const instead: AppMiddleware = ({ path, next, context: { user, now } }, input, output) => {
  seen.push({ path: path.join('.'), person: user?.email, input, now: now() })
  if (path.join('.') === 'projects.update' && answer !== undefined) return output(answer)
  return next()
}
let answer: unknown

type Service = Awaited<ReturnType<typeof startTracker>>

const startTracker = () =>
  createTallystick(
    defineApp({ ...definition, middlewares: [outer, instead], onStart }),
    {},
    { now: () => new Date('2030-01-01T00:00:00Z') },
  )

let starts: AppServices[] = []
let stops = 0
const onStart = (services: AppServices) => {
  starts.push(services)
  return () => {
    stops++
  }
}

describe('the middlewares of an application', () => {
  let service: Service
  beforeAll(async () => {
    service = await startTracker()
  })
  afterAll(() => service.close())

  /** Signs in a new person with a project. */
  async function owner(email: string) {
    answer = undefined
    const client = await service.person(email)
    const { id } = await client.projects.create({ name: 'Bridge' })
    seen.length = 0
    return { client, id }
  }

  test('run in their order around the handler, with the caller, the input and the time', async () => {
    const { client, id } = await owner('ada@example.com')

    await client.projects.get({ id })

    const now = new Date('2030-01-01T00:00:00Z')
    expect(seen).toEqual([
      'before projects.get',
      { path: 'projects.get', person: 'ada@example.com', input: { id }, now },
      'after projects.get',
    ])
  })

  test('run for the procedures of the engine', async () => {
    const { client } = await owner('grace@example.com')

    await client.account.get()

    expect(seen).toContain('before account.get')
  })

  test('see the reads of a live stream with the path of the procedure and the caller', async () => {
    const { client } = await owner('edsger@example.com')

    const updates = await client.live.watch({ topics: ['projects'] })
    await updates.next()
    await updates.return()

    expect(seen).toContainEqual(
      expect.objectContaining({ path: 'projects.list', person: 'edsger@example.com' }),
    )
  })

  test('do not run before the checks of the guard, and do not see an invalid input', async () => {
    const { client, id } = await owner('charles@example.com')
    const stranger = await service.person()
    seen.length = 0
    answer = { id, name: 'Stolen', mine: false, can: {} }

    await expect(service.stranger.projects.update({ id, name: 'Mine' })).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    })
    await expect(stranger.projects.update({ id, name: 'Mine' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.projects.create({ name: '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })

    expect(seen).toEqual([])
  })

  test('answer instead of the handler only what the contract declares', async () => {
    const { client, id } = await owner('alan@example.com')
    const can = { VIEW_PROJECT: true, EDIT_PROJECT: false, CREATE_TICKET: false, SHARE_PROJECT: false }
    answer = { id, name: 'Kept', mine: true, can }

    expect(await client.projects.update({ id, name: 'Lost' })).toEqual(answer)
    expect(await client.projects.get({ id })).toMatchObject({ name: 'Bridge' })

    answer = { id, name: 7 }
    await expect(client.projects.update({ id, name: 'Lost' })).rejects.toMatchObject({
      code: 'INTERNAL_SERVER_ERROR',
    })
  })
})

describe('an application without middlewares', () => {
  test('has the procedures of its resources, unchanged', () => {
    const app = defineApp(definition)

    expect(app.router.projects.get).toBe(definition.resources.projects.procedures.get)
    expect(app.router.projects.get['~orpc'].route).toBe(projects.procedures.get['~orpc'].route)
  })
})

describe('onStart', () => {
  test('runs when the application listens, and ends before the database closes', async () => {
    starts = []
    const service = await startTracker()
    expect(starts).toHaveLength(0)

    await service.listen()

    expect(starts).toHaveLength(1)
    expect(starts[0]?.now()).toEqual(new Date('2030-01-01T00:00:00Z'))
    expect(() => starts[0]?.announce(projectsTopic)).toThrow('needs a person')
    await service.close()
    expect(stops).toBe(1)
  })
})
