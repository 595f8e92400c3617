import { describe, expect, test } from 'vitest'

import { createRestClient } from '../contract/client.ts'

/** Creates a client that records the paths of its requests. */
function recordPaths() {
  const paths: string[] = []
  const client = createRestClient('http://localhost:3000', {
    fetch: (request) => {
      paths.push(new URL(request.url).pathname)
      return Promise.resolve(Response.json({ code: 'NOT_FOUND' }, { status: 404 }))
    },
  })
  return { client, paths }
}

const ABSENT = '00000000-0000-0000-0000-000000000000'

describe('the id of an item in a URL', () => {
  test.each([
    ['another procedure', 'reset'],
    ['the folder', '.'],
    ['the folder above', '..'],
    ['another folder', '../tasks'],
    ['another folder, encoded', 'a%2f%2e%2e'],
    ['NUL', 'a\0b'],
    ['nothing', ''],
    ['half of a character', '\ud83d'],
    ['a text that is too long', '€'.repeat(300)],
    ['no text', undefined as unknown as string],
  ])('that is %s is the id of no note', async (_, id) => {
    const { client, paths } = recordPaths()

    await client.notes.update({ id, title: 'One', body: '' }).catch(() => undefined)

    expect(paths).toEqual([`/api/notes/${ABSENT}`])
  })

  test.each(['01890a5d-ac96-774b-bcce-b302099a8057', 'a', 'a/b?c', '%', 'share'])(
    'that is %s is sent',
    async (id) => {
      const { client, paths } = recordPaths()

      await client.notes.share({ id, email: 'bob@example.com', role: 'reader' }).catch(() => undefined)

      expect(paths).toEqual([`/api/notes/${encodeURIComponent(id)}/share`])
    },
  )

  test('that is a number is sent', async () => {
    const { client, paths } = recordPaths()

    await client.tasks.get({ id: 7 }).catch(() => undefined)
    await client.tasks.delete({ id: 'reset' as unknown as number }).catch(() => undefined)

    expect(paths).toEqual(['/api/tasks/7', `/api/tasks/${ABSENT}`])
  })
})
