import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

// PostgreSQL needs seconds to create a database. So the build creates one, without tables and data, and a new embedded
// database begins as its copy.

/** The folder of the archive in dist, for this source. The bundles have the archive beside their files. */
export const EMPTY_DATABASE = 'dist/empty-database'

/** The name of the archive has the release of PGlite, so that no other release reads it. */
export function archiveName() {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(readFileSync(join(entry, '../../package.json'), 'utf8')) as {
    version: string
  }
  return `${version}.tar.gz`
}

/** Returns the option of PGlite for a copy of the empty database: none without the archive of the installed release. */
export async function readEmptyDatabase() {
  const name = archiveName()
  const file = ['./empty-database', `../../../${EMPTY_DATABASE}`]
    .map((folder) => fileURLToPath(new URL(`${folder}/${name}`, import.meta.url)))
    .find((path) => existsSync(path))
  return file === undefined ? {} : { loadDataDir: await unpackArchive(readFileSync(file)) }
}

/** Decompresses an archive before PGlite reads it, because PGlite ends the process if decompression fails. */
export const unpackArchive = async (archive: Buffer) => new Blob([await promisify(gunzip)(archive)])
