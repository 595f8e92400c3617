import { noteBounds } from '../../contract/bounds.ts'
import { isBlank, trimInvisibleStart } from '../../contract/schemas.ts'
import * as query from '../../db/legacy-notes.ts'
import { insert, type ListedNote } from '../../db/notes.ts'
import { withCaller } from '../guard/index.ts'
import { newestFirst, type Order, readPage } from '../lists/pagination.ts'
import { toUnixSeconds } from '../unix-time.ts'

const os = withCaller.legacyNotes

const order: Order<ListedNote['note']> = { ...newestFirst, textsOf: ({ title, body }) => [title, body] }

export const legacyNotes = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows, isComplete } = await readPage(call, order, (page) => query.list(db, user.id, page))
    const noteCount = isComplete ? rows.length : await query.countAll(db, user.id)
    return { notes: rows.map(view), noteCount }
  }),

  create: os.create.handler(async ({ context: { db, user }, input: { newNote } }) =>
    view(await insert(db, user.id, { title: deriveTitle(newNote), body: newNote })),
  ),

  delete: os.delete.handler(async ({ context: { db, user }, input }) => {
    await query.remove(db, user.id, input.id)
    return { success: true }
  }),

  reset: os.reset.handler(async ({ context: { db, user } }) => {
    await query.clear(db, user.id)
    return { noteCount: 0 }
  }),
})

/**
 * Returns the first line that is not blank, from its first visible character, truncated to the maximum length of a
 * title, in code points.
 */
function deriveTitle(text: string) {
  const [line = ''] = trimInvisibleStart(text).split(/\r\n|\r|\n/)
  return Array.from(line).slice(0, noteBounds.title).join('').trim()
}

/**
 * Returns a note in the first form, which has only a text. For a note with a separate title and body (second form), the
 * text contains both.
 */
const view = ({ id, userId, title, body, createdAt, updatedAt }: ListedNote['note']) => ({
  id,
  userId,
  text: startsWithTitle(body, title) ? body : `${title}\n\n${body}`,
  createdAt: toUnixSeconds(createdAt),
  updatedAt: toUnixSeconds(updatedAt),
})

/** Returns whether only invisible characters precede the title in the body. */
const startsWithTitle = (body: string, title: string) => {
  const start = body.indexOf(title)
  return start >= 0 && isBlank(body.slice(0, start))
}
