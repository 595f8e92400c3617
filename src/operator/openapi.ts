import { createDocument } from '../openapi/document.ts'
import type { Shell } from './shell.ts'

export async function printDocument({ print }: Shell) {
  for (const line of JSON.stringify(await createDocument(), undefined, 2).split('\n')) print(line)
}
