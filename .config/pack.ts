import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { writeEngine, writePackage } from './packages.ts'

// Packs a built package of the repository, for example `tallystick-client` in `contract`. Without the second argument, writes
// the archive to the folder in which `npm run` was started. Prints the name of the archive.

const [, , source = '.', destination = process.env.INIT_CWD ?? '.'] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'tallystick-pack-'))
try {
  if (source === 'engine') await writeEngine(folder)
  else writePackage(source, folder)
  execFileSync('npm', ['pack', folder, '--ignore-scripts', '--silent', '--pack-destination', destination], {
    stdio: 'inherit',
  })
} finally {
  rmSync(folder, { recursive: true })
}
