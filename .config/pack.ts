import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Packs a built package of the repository: `tallystick` in the folder `.`, or `tallystick-client` in `contract`. Without the
// second argument, writes the archive to the folder in which `npm run` was started. Prints the name of the archive.

/** Fields of package.json that only the development of the package uses. */
const DEVELOPMENT = ['allowScripts', 'devDependencies', 'overrides', 'scripts', 'workspaces']

const [, , source = '.', destination = process.env.INIT_CWD ?? '.'] = process.argv
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { files: string[] }
const published = Object.entries(manifest).filter(([field]) => !DEVELOPMENT.includes(field))

const folder = mkdtempSync(join(tmpdir(), 'tallystick-pack-'))
try {
  const documents = ['README.md', 'LICENSE'].filter((name) => existsSync(join(source, name)))
  for (const path of [...manifest.files, ...documents])
    cpSync(join(source, path), join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(Object.fromEntries(published), null, 2)}\n`)
  execFileSync('npm', ['pack', folder, '--ignore-scripts', '--silent', '--pack-destination', destination], {
    stdio: 'inherit',
  })
} finally {
  rmSync(folder, { recursive: true })
}
