import { PGlite } from '@electric-sql/pglite'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { archiveName, EMPTY_DATABASE } from '../engine/db/connection/empty-database.ts'
import { buildIfChanged } from '../engine/dev/project/inputs.ts'

const inputs = ['.config/empty-database.ts', 'node_modules/@electric-sql/pglite/package.json']

/** Writes the archive of an empty database (engine/db/connection/empty-database.ts). Takes about five seconds. */
export const buildEmptyDatabase = () =>
  buildIfChanged(EMPTY_DATABASE, inputs, async () => {
    const client = await PGlite.create()
    const files = await client.dumpDataDir('none')
    await client.close()
    rmSync(EMPTY_DATABASE, { recursive: true, force: true })
    mkdirSync(EMPTY_DATABASE, { recursive: true })
    writeFileSync(
      join(EMPTY_DATABASE, archiveName()),
      await promisify(gzip)(await files.arrayBuffer(), { level: 9 }),
    )
    return undefined
  })

/** Adds the archive to a bundle that opens embedded databases. */
export const addEmptyDatabase = (bundle: string) => {
  cpSync(EMPTY_DATABASE, join(bundle, 'empty-database'), { recursive: true })
}
