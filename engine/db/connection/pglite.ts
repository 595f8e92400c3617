import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'

import { PGlite, type PGliteOptions } from '@electric-sql/pglite'

import { codeOf } from '../errors.ts'

// PGlite, the embedded PostgreSQL: its version for a data folder, and a correction of its texts.

// Sets a V8 flag to the default value of Node 24. With the default value of Node 20, V8 spends a third of the CPU time
// of the start on optimizing the WebAssembly code of PostgreSQL.
setFlagsFromString('--wasm-tiering-budget=13000000')

const { TextDecoder } = globalThis

class DecoderWithByteOrderMark extends TextDecoder {
  constructor(label?: string, options?: ConstructorParameters<typeof TextDecoder>[1]) {
    super(label, { ...options, ignoreBOM: true })
  }
}

/** Replaces the global TextDecoder. Returns the function that restores TextDecoder. */
function replaceDecoder() {
  globalThis.TextDecoder = DecoderWithByteOrderMark
  return () => {
    globalThis.TextDecoder = TextDecoder
  }
}

/**
 * PGlite decodes texts with `new TextDecoder('utf-8')`, which removes U+FEFF at the start of a text. PGlite creates the
 * decoder in its constructor, and again in `execProtocol` after a failed statement. In both cases, this class replaces
 * TextDecoder only while PGlite creates the decoder. The class can be deleted when a release of PGlite passes
 * engine/test/db/texts.slow.test.ts without the class.
 */
const keepByteOrderMarks = (Base: typeof PGlite) =>
  class extends Base {
    override async execProtocolRaw(...parameters: Parameters<PGlite['execProtocolRaw']>) {
      const bytes = await super.execProtocolRaw(...parameters)
      const restoreDecoder = replaceDecoder()
      // The first microtask runs before `execProtocol` continues, and the second after `execProtocol` has created its decoder.
      queueMicrotask(() => {
        queueMicrotask(restoreDecoder)
      })
      return bytes
    }
  }

export async function openClient(Base: typeof PGlite, options: PGliteOptions) {
  const client = createClient(keepByteOrderMarks(Base), options)
  await client.waitReady
  return client
}

function createClient(Client: typeof PGlite, options: PGliteOptions) {
  const restoreDecoder = replaceDecoder()
  try {
    return new Client(options)
  } finally {
    restoreDecoder()
  }
}

export const containsDatabase = (folder: string) => existsSync(join(folder, 'PG_VERSION'))

/** The major version of PostgreSQL of the installed PGlite. */
const POSTGRES_VERSION = '18'

/** The latest release of PGlite that reads the data of a major version of PostgreSQL. */
const PGLITE_RELEASES = new Map([
  ['16', '0.2.17'],
  ['17', '0.4.6'],
])

/** Thrown if another major version of PostgreSQL has written the data folder. */
export class OtherVersion extends Error {}

/**
 * Returns the PGlite that reads a folder: the installed release, or for the data of PostgreSQL 17 the package `pglite-17` of
 * the working folder, an older release under this name. Throws OtherVersion.
 */
export function findPGlite(folder: string): typeof PGlite {
  if (!containsDatabase(folder)) return PGlite
  const version = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  if (version === POSTGRES_VERSION) return PGlite
  const require = createRequire(join(process.cwd(), 'package.json'))
  const name = `pglite-${version}`
  try {
    return (require(name) as { PGlite: typeof PGlite }).PGlite
  } catch (error) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error
  }
  const release = PGLITE_RELEASES.get(version)
  const reader =
    release === undefined
      ? ''
      : ` To read it, run: npm install --no-save ${name}@npm:@electric-sql/pglite@${release}`
  throw new OtherVersion(
    `${folder} has data of PostgreSQL ${version}, and this release reads PostgreSQL ${POSTGRES_VERSION}. See "Another version of the embedded database" in docs/operation.md.${reader}`,
  )
}
