import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import { filesIn } from '../create/folder.ts'

const compressors = {
  '.br': promisify(brotliCompress),
  '.gz': (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

/** The files that become smaller. Images and fonts are compressed already. */
const COMPRESSIBLE = /\.(css|html|js|json|svg|txt|webmanifest)$/

/** Writes a copy with Brotli and a copy with gzip beside each file, unless an up-to-date copy exists. */
export async function compressFolder(folder: string) {
  for (const file of filesIn(folder).filter((path) => COMPRESSIBLE.test(path)))
    for (const [extension, compress] of Object.entries(compressors)) {
      const copy = file + extension
      if (existsSync(copy) && statSync(copy).mtimeMs >= statSync(file).mtimeMs) continue
      writeFileSync(copy, await compress(readFileSync(file)))
    }
}
