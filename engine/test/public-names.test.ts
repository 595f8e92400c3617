import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

import { exportedNames } from './fixtures/exported-names.ts'

/**
 * The names that applications can import. A new name is a promise: other names of the contract belong in
 * engine/contract/internal.ts, and other names of the engine are imported as `tallystick/internal/…`.
 */
const publicNames: Record<string, string> = {
  'tallystick-contract': `
    Alternative AppContract ById CallContext ClientOf ClientOptions DeclaredError ItemAction Language LiveUpdateOf MAX_EMAIL Meta
    ORPCError Page RateLimit ResourceContract RowId RpcClientOptions Scope Search Success Timestamp Topic WatchInput
    administrative administrativeErrors appContract changing createRestClient createRpcClient creating
    decodeErrorBody exportPart isBlank isDefinedError isRightToLeft isValidationError pages publicAccess
    reading requestSchemas resourceContract responseSchemas safe sensitive sharing signedIn text topic
    trimInvisibleStart writing
  `,
  'tallystick-contract/query': `
    ClientWithHeaders KeepLiveOptions LiveStatus QueryUtils RelatedResources createQueryUtils keepLive
  `,
  tallystick: `
    Announce App AppMiddleware AppServices Caller Context JobContext MailText Patch Permissions Reply Resource SampleName Samples SignIn SignUpHook ViewContext consumeLimit
    createTranslation defineApp endpoint inTransaction isPermitted job mailTemplate pageOf resource toUnixSeconds
    toUnixTimes withCaller withoutCaller
  `,
  'tallystick/cli': `
    CommandApp runCommand
  `,
  'tallystick/db': `
    Database MembersTable Person Rows coalesced createdAt emailOf everybody isConstraintViolation listOf nameOf
    owned prepared requireRow rows selectWith shared timestamptz updatedAt userIdColumn version within
  `,
  'tallystick/db/open': `
    ServerOptions connect isReachable isServer migrate open openForLongWork
  `,
  'tallystick/files': `
    Files download openFiles rowFiles sweepFiles
  `,
  'tallystick/serve': `
    loadEnvironmentFiles mayHaveConsole serve
  `,
}

const words = (text = '') => text.split(/\s+/).filter(Boolean)

/** An example is a block with `@example`, or code in a sentence, such as `reply.set('etag', tag)`. */
const hasExample = (comment: string) => /@example|`[^`]*[({=:][^`]*`/.test(comment)

interface Manifest {
  name: string
  exports: Record<string, string>
}

/** The public entry points of the packages that run in production, with the names and comments of each. */
const entries = ['engine/contract', 'engine'].flatMap((folder) => {
  const { name, exports } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest
  return Object.entries(exports)
    .filter(([path, file]) => file.endsWith('.ts') && !path.startsWith('./internal'))
    .map(([path, file]) => ({ entry: name + path.slice(1), exported: exportedNames(`${folder}/${file}`) }))
})

test('every public entry point has a list of names', () => {
  expect(entries.map(({ entry }) => entry)).toEqual(Object.keys(publicNames))
})

test.each(entries)('$entry exports the listed names', ({ entry, exported }) => {
  expect([...exported.keys()].sort()).toEqual(words(publicNames[entry]).sort())
})

test.each(entries)('the names of $entry have comments with examples', ({ exported }) => {
  const missing = [...exported].filter(([, comment]) => !hasExample(comment)).map(([name]) => name)

  expect(missing).toEqual([])
})

test('a name without a comment, and a comment without code, have no example', () => {
  const exported = exportedNames('engine/contract/index.ts')

  expect(hasExample(exported.get('reading') ?? '')).toBe(true)
  expect(hasExample(exported.get('isDefinedError') ?? '')).toBe(true)
  expect(hasExample('')).toBe(false)
  expect(hasExample('/** Counts a call. See `consumeLimit`. */')).toBe(false)
})
