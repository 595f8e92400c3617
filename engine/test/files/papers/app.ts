import { fileURLToPath } from 'node:url'
import { defineApp, resource } from 'tallystick'

import { type Files, rowFiles } from '../../../http/files/index.ts'
import { contract, papers as paperContract } from './contract.ts'
import { paperRows } from './db.ts'

export const MAX_BYTES = 32 * 2 ** 20

/** An application with papers, which have files in a storage. */
export function createPapers(files: Files) {
  const paperFiles = rowFiles(files, paperRows, {
    path: '/api/papers/{id}/file',
    name: 'title',
    actions: { upload: 'EDIT_PAPER' },
    maxBytes: MAX_BYTES,
    types: ['image/*', 'text/plain'],
    rateLimit: { name: 'papersFiles', points: 100_000, duration: 60, perAccount: true },
  })
  const papers = resource(paperContract, paperRows, {
    description: 'Papers, which their authors share by address.',
    permissions: {
      author: ['EDIT_PAPER', 'DELETE_PAPER'],
      editor: ['EDIT_PAPER'],
      reader: [],
    },
    view: ({ uuid: id, title, type, size }) => ({ id, title, type, size }),
    procedures: (os, { page, insert, update, remove, invite, exclude }) => ({
      list: os.list.handler(page('papers')),
      create: os.create.handler(insert(({ input }) => input)),
      update: os.update.handler(update(({ input: { title } }) => ({ title }))),
      delete: os.delete.handler(paperFiles.removeWith(remove())),
      share: os.share.handler(invite(({ input }) => input)),
      exclude: os.exclude.handler(exclude(({ input }) => input.email)),
    }),
  })
  return defineApp({
    name: 'Test papers',
    version: '1.0.0',
    description: 'Papers with files.',
    contract,
    migrationsFolder: fileURLToPath(new URL('./migrations', import.meta.url)),
    resources: { papers },
    endpoints: paperFiles.endpoints,
    jobs: paperFiles.jobs,
  })
}
