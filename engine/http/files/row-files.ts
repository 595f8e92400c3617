import { ORPCError } from '@orpc/client'
import { parse as parseType } from 'content-type'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { toCamelCase } from 'drizzle-orm/casing'
import { type RateLimit, RowId } from 'tallystick-contract'
import * as z from 'zod'

import { endpoint, type Endpoints } from '../../app/endpoint.ts'
import { job, type Jobs } from '../../app/job.ts'
import { isMediaType } from '../../app/media-types.ts'
import type { Caller } from '../../call/caller.ts'
import type { Context } from '../../call/context.ts'
import type { Rows } from '../../db/rows/index.ts'
import { findCurrentCaller } from '../../guard/authentication.ts'
import { relationsWith } from '../../guard/permissions.ts'
import { download } from './download.ts'
import type { Files } from './storage.ts'
import { addKeyColumn, keyColumnsOf, sweepFiles } from './sweep.ts'

/** The columns of a table whose rows have a file. All are null until the file is uploaded. */
interface FileColumns {
  key: string | null
  type: string | null
  size: number | null
}

type FileRow<Name extends string> = FileColumns & Record<Name, string>
type FileRows<Row> = Pick<
  Rows<Row, never, { key: string; type: string; size: number }>,
  'table' | 'name' | 'key' | 'find' | 'lock' | 'update'
>

interface Options<Name extends string> {
  /** The path of the file of a row, for example `/api/covers/{id}/file`. */
  path: `/${string}{id}${string}`
  /** The field with the name of the file. */
  name: Name
  /** The actions of the resource that an upload and a download need. By default, everybody who sees the row may download. */
  actions: { upload: string; download?: string }
  /** The maximum size of a file, in bytes. */
  maxBytes: number
  /** The media types of files, for example `image/*`. By default all. */
  types?: readonly string[]
  /** The maximum time of an upload or a download, in seconds: by default 300. */
  timeout?: number
  rateLimit?: RateLimit
}

interface ItemCall {
  context: Context & Caller
  input: { id: unknown }
}

interface RowFiles {
  /** For `endpoints` of `defineApp`. */
  endpoints: Endpoints
  /** For `jobs` of `defineApp`. */
  jobs: Jobs
  /** Extends the handler that deletes a row: a job removes the file after the commit. */
  removeWith: <Call extends ItemCall, Output>(
    handler: (call: Call) => Promise<Output>,
  ) => (call: Call) => Promise<Output>
}

/** The media type of a file without one. */
const UNKNOWN = 'application/octet-stream'

/** Returns the declared media type of an upload. Refuses a Content-Encoding, because a download would not have this header. */
function typeOf(headers: Headers) {
  if ((headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    throw new ORPCError('UNSUPPORTED_MEDIA_TYPE', { message: 'A file must not have a Content-Encoding' })
  const { type } = parseType(headers.get('content-type') ?? '')
  return isMediaType(type) && !type.endsWith('*') ? type : UNKNOWN
}

/**
 * Gives each row of a table a file. `PUT` at the path uploads the file, and `GET` downloads it. The row decides who may do so. If the
 * row is deleted, or receives another file, a job removes the file after the commit, and another job removes the files without a row
 * each night: of failed uploads and of deleted accounts. The table has the columns `key` (a UUID), `type` and `size`, which the rows
 * list in `update`.
 *
 * @example
 * export const coverFiles = rowFiles(files, coverRows, {
 *   path: '/api/covers/{id}/file', name: 'title', actions: { upload: 'EDIT_COVER' }, maxBytes: 10_000_000, types: ['image/*'],
 * })
 */
export function rowFiles<const Name extends string, Row extends FileRow<Name>>(
  files: Files,
  rows: FileRows<Row>,
  { path, name, actions, maxBytes, types, timeout = 300, rateLimit }: Options<Name>,
): RowFiles {
  const columns = getTableColumns(rows.table)
  /** The column with the key of the file, and the column that identifies the row. */
  const [column, idColumn] = [columns.key, columns[rows.key]]
  if (!column) throw new Error(`The table ${rows.name} needs a column \`key\` for files`)
  addKeyColumn(files, column)
  const prefix = toCamelCase(getTableName(rows.table))
  const shared = {
    path,
    timeout,
    rateLimit: rateLimit ?? { name: `${prefix}Files`, points: 100, duration: 60, perAccount: true },
  }

  const removeFile = job({ input: z.object({ key: z.uuid() }) }, ({ key }) => files.remove(key))
  const sweep = job(
    { input: z.object({}), schedule: { cron: '0 3 * * *' }, timeout: 3600 },
    (_, { db, now, signal }) => sweepFiles(files, db, keyColumnsOf(files), { now: now(), signal }),
  )

  const upload = endpoint(
    {
      ...{ ...shared, method: 'PUT', body: 'stream', maxBytes, access: { scope: 'write', sensitive: true } },
      ...(types && { types }),
    },
    async ({ request, params, body, context }) => {
      const { user, session, scopes, announce } = context
      const id = idOf(params)
      const { relations, recipients, topic } = await authorize(context, id, actions.upload)
      const type = typeOf(request.headers)
      const file = { ...(await files.put(body)), type }
      await context.transaction(async ({ db, enqueue }) => {
        // During the upload, the session may have ended, and the person may have lost the permission.
        if (!(await findCurrentCaller(db, { user, session, ...(scopes && { scopes }) })))
          throw new ORPCError('UNAUTHORIZED')
        const before = await rows.lock(db, user, id)
        if (!before || !(await rows.update(db, user, id, file, { relations })))
          throw new ORPCError('NOT_FOUND')
        if (before.key !== null) await enqueue(removeFile, { key: before.key })
      })
      if (topic) announce(topic, ...recipients)
      return new Response(null, { status: 204 })
    },
  )

  const send = endpoint(
    { ...shared, method: 'GET', access: { scope: 'read' } },
    async ({ request, params, context }) => {
      const id = idOf(params)
      if (actions.download !== undefined) await authorize(context, id, actions.download)
      const row = await rows.find(context.db, context.user, id)
      if (!row || row.key === null) throw new ORPCError('NOT_FOUND')
      const { key, type, size, [name]: fileName } = row
      return download(request, files, { key, name: fileName, type: type ?? UNKNOWN, size: size ?? 0 })
    },
  )

  /** Checks the permission as procedures do: 404 without a relation to the row, 403 if no relation permits the action. */
  async function authorize({ db, user, resources }: Context & Caller, id: string | number, action: string) {
    const { items, watch } = Object.values(resources).find((each) => each.rows?.table === rows.table) ?? {}
    if (!items?.permissions) throw new Error(`No resource has permissions for the rows of ${rows.name}`)
    const relations = relationsWith(items.permissions, action)
    // The types do not know which ids the items have.
    const relation = await items.findRelation(db, user, id as never)
    if (!relation) throw new ORPCError('NOT_FOUND')
    if (relations && !relation.names.some((each) => relations.includes(each)))
      throw new ORPCError('FORBIDDEN')
    return { relations, recipients: relation.recipients, topic: watch?.topic }
  }

  /** A malformed id is the id of no row. */
  const idOf = ({ id }: { id: string }) =>
    idColumn?.dataType === 'string' ? id : (RowId.safeParse(id).data ?? -1)

  return {
    endpoints: { [`${prefix}Upload`]: upload, [`${prefix}Download`]: send },
    jobs: { [`${prefix}Remove`]: removeFile, [`${prefix}Sweep`]: sweep },
    removeWith: (handler) => (call) =>
      call.context.transaction(async (tx) => {
        const row = await rows.lock(tx.db, call.context.user, call.input.id)
        const output = await handler({ ...call, context: { ...call.context, ...tx } })
        if (row && row.key !== null) await tx.enqueue(removeFile, { key: row.key })
        return output
      }),
  }
}
