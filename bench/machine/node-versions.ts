import { execFileSync } from 'node:child_process'

/** The Node versions of a run: the recommended version, and the oldest supported version. */
const VERSIONS = { 24: '24.21.0', 20: '20.20.2' }

export type NodeMajor = keyof typeof VERSIONS

/**
 * Returns the Node program of a major version: the current program, or the npm package `node`, which npx downloads into
 * the cache of npm.
 */
export function findNode(major: NodeMajor) {
  if (process.version.startsWith(`v${major}.`)) return process.execPath
  const packages = ['--yes', `--package=node@${VERSIONS[major]}`]
  const print = ['--', 'node', '--print', 'process.execPath']
  const node = execFileSync('npx', [...packages, ...print], { encoding: 'utf8' }).trim()
  if (!versionOf(node).startsWith(`v${major}.`)) throw new Error(`npm did not install Node ${major}`)
  return node
}

export const versionOf = (node: string) => execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
