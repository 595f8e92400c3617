import { badRequest } from 'tallystick-contract/internal'

import { isInvalidValue } from '../../db/errors.ts'
import type { Keyset, SortValues } from '../../db/keyset.ts'
import type { Position } from '../../db/pagination.ts'

/** The text of a cursor before its encoding in base64url. */
export interface CursorFormat<After> {
  write: (position: After) => string
  /** Returns undefined for a text that is no position. */
  read: (text: string) => After | undefined
}

/** `<milliseconds>.<id>`, for example `1700000000000.42`. The groups of the pattern are the milliseconds and the id. */
export const timeAndId = (pattern: RegExp): CursorFormat<Position> => ({
  write: ({ at, id }) => `${at.getTime()}.${id}`,
  read: (text) => {
    const [, at, id] = pattern.exec(text) ?? []
    return at === undefined || id === undefined ? undefined : { at: new Date(Number(at)), id }
  },
})

/** The sort values as JSON, for example `["2026-03-01 10:20:30.123456+00","42"]`. */
export const sortValues = ({ isPosition }: Pick<Keyset, 'isPosition'>): CursorFormat<SortValues> => ({
  write: JSON.stringify,
  read: (text) => {
    const values = parseJson(text)
    return isPosition(values) ? values : undefined
  },
})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const badCursor = () => badRequest([{ path: ['cursor'], message: 'Must be a cursor of this list' }])

export const encodeCursor = <After>(format: CursorFormat<After>, position: After) =>
  Buffer.from(format.write(position)).toString('base64url')

/** Throws 400 for a text that is no cursor of the list. */
export function decodeCursor<After>(format: CursorFormat<After>, cursor: string | undefined) {
  if (cursor === undefined) return undefined
  const position = format.read(Buffer.from(cursor, 'base64url').toString())
  if (position === undefined) throw badCursor()
  return position
}

/** Throws 400 if the statement failed because a text in the cursor is no value of its type. */
export function throwReadError(error: unknown): never {
  throw isInvalidValue(error) ? badCursor() : error
}
