import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Finds the programs that the failover trial needs. Throws if a program is missing. */
export function findPrograms() {
  const path = (process.env.PATH ?? '').split(delimiter)
  // Debian installs the programs of the PostgreSQL server in folders that are not part of PATH.
  const versions = list('/usr/lib/postgresql').sort((one, other) => Number(other) - Number(one))
  const searchPaths = {
    patroni: path,
    etcd: path,
    pg_rewind: [...path, ...versions.map((version) => `/usr/lib/postgresql/${version}/bin`)],
  }
  const found = Object.entries(searchPaths).map(([program, folders]) => ({
    program,
    folder: folders.find((folder) => list(folder).includes(program)),
  }))
  const missing = found.filter(({ folder }) => folder === undefined).map(({ program }) => program)
  if (missing.length > 0)
    throw new Error(`Install patroni, etcd and postgresql: PATH contains no ${missing.join(', no ')}`)
  const [patroni = '', etcd = '', bin = ''] = found.map(({ folder }) => folder)
  return { patroni: join(patroni, 'patroni'), etcd: join(etcd, 'etcd'), bin }
}

function list(folder: string) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Returns the current user. Returns the user `postgres` instead of root, because PostgreSQL refuses to run as root. */
export function findUnprivilegedUser() {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  if (uid !== 0) return { uid, gid }
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}
