import { build } from 'esbuild'
import { gzipSync } from 'node:zlib'

/** Words in the contract's schemas or in zod. The bundle must not contain them, because the client needs no schemas. */
const SCHEMAS = ['taskTitle', 'revokeSessionToken', 'SHARE_NOTE', 'invalid_type']

/** Measures the bundle of `createClient`, in bytes. */
export async function measureBundle() {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { createClient } from './contract/client.ts'
        globalThis.client = createClient('https://example.com')`,
      resolveDir: '.',
    },
    bundle: true,
    minify: true,
    treeShaking: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const text = outputFiles[0]?.text ?? ''
  return {
    minified: Buffer.byteLength(text),
    gzip: gzipSync(text, { level: 9 }).length,
    schemas: SCHEMAS.filter((word) => text.includes(word)),
  }
}
