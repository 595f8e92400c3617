import { engineContract } from 'tallystick-contract'

import { bookmarks, bookmarksExport, bookmarksTopic } from './bookmarks.ts'

/** The parts of the export of an account, by the name of the resource. */
export const exportParts = {
  bookmarks: bookmarksExport,
}

const engine = engineContract({ topics: [bookmarksTopic], exportParts })

/** The order is the order of the API reference, and of the tools for agents. */
export const contract = {
  ...engine,
  bookmarks,
}

export type Contract = typeof contract
