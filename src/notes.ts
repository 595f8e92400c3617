import { selectWith } from 'tallystick/db'
import { consumeLimit, isPermitted, resource, toUnixTimes } from 'tallystick'

import { addressLimit, type NoteAction, notes as notesContract } from '../contract/notes.ts'
import { exportQueries, noteRows, type shares } from '../db/notes.ts'

const permissions = {
  author: ['VIEW_NOTE', 'EDIT_NOTE', 'SHARE_NOTE', 'DELETE_NOTE'],
  editor: ['VIEW_NOTE', 'EDIT_NOTE', 'LEAVE_NOTE'],
  reader: ['VIEW_NOTE', 'LEAVE_NOTE'],
  anyone: ['CREATE_NOTE'],
} satisfies Record<string, readonly NoteAction[]>

export const notes = resource(notesContract, noteRows, {
  description: 'Notes, which their authors can share with readers and editors.',
  names: {
    am: 'ማስታወሻዎች',
    ar: 'الملاحظات',
    de: 'Notizen',
    en: 'notes',
    es: 'notas',
    fa: 'یادداشت‌ها',
    fr: 'notes',
    he: 'פתקים',
    hi: 'नोट',
    it: 'note',
    ja: 'メモ',
    ko: '메모',
    pl: 'notatki',
    'pt-BR': 'notas',
    ru: 'заметки',
    th: 'บันทึก',
    tr: 'notlar',
    uk: 'нотатки',
    'zh-Hans': '笔记',
    'zh-Hant': '筆記',
  },
  permissions,
  unrelated: 'forbidden',
  /** Only the tag of the author contains `sharing`, because other readers must not notice changes of the shares. */
  tag: ({ version, sharing }, { relations }) =>
    relations.includes('author') ? `"${version}.${sharing}"` : `"${version}"`,
  view: (
    { uuid: id, title, body, sharedWith, updatedAt },
    { can: { VIEW_NOTE, EDIT_NOTE, SHARE_NOTE, DELETE_NOTE }, relations },
  ) => ({
    id,
    title,
    body,
    mine: relations.includes('author'),
    sharedWith,
    updatedAt: updatedAt.toISOString(),
    can: { VIEW_NOTE, EDIT_NOTE, SHARE_NOTE, DELETE_NOTE },
  }),
  procedures(os, { page, insert, update, remove, members, invite, exclude, leave }) {
    const listNotes = page('notes')
    const answer = ({ uuid: id }: { uuid: string }) => ({ id })
    return {
      list: os.list.handler(async (call) => ({
        ...(await listNotes(call)),
        can: { CREATE_NOTE: isPermitted(permissions, 'anyone', 'CREATE_NOTE') },
      })),
      create: os.create.handler(insert(({ input }) => input)),
      update: os.update.handler(update(({ input: { title, body } }) => ({ title, body }))),
      shares: os.shares.handler(
        members('shares', ({ email, role, createdAt }) => ({
          email,
          role,
          createdAt: createdAt.toISOString(),
        })),
      ),
      share: os.share.handler(
        invite(async ({ context, input }) => {
          await consumeLimit(context, addressLimit, `${context.user.id} ${input.email.toLowerCase()}`)
          return input
        }),
      ),
      unshare: os.unshare.handler(exclude(({ input }) => input.email)),
      leave: os.leave.handler(leave({ answer })),
      delete: os.delete.handler(remove({ answer })),
    }
  },
  selectExport: selectWith(exportQueries, ({ ownNotes, ownShares, notesOfOthers, countOfOthers }) => {
    const sharedWith = new Map(ownNotes.map(({ id }) => [id, [] as ReturnType<typeof exportShare>[]]))
    for (const share of ownShares) sharedWith.get(share.noteId)?.push(exportShare(share))
    return {
      // `number` is the id in the first form.
      notes: ownNotes.map(({ id: number, uuid: id, title, body, ...row }) => ({
        id,
        number,
        title,
        body,
        sharedWith: sharedWith.get(number) ?? [],
        ...toUnixTimes(row),
      })),
      notesOfOthers,
      notesOfOthersCount: countOfOthers[0]?.count ?? 0,
    }
  }),
  importSamples: () => import('./samples/notes.ts'),
})

function exportShare({ email, role, ...row }: typeof shares.$inferSelect) {
  return { email, role, ...toUnixTimes(row) }
}
