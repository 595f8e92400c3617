import { createDocument } from '../openapi/document.ts'
import type { CommandContext } from './command-context.ts'

export async function printDocument({ print }: CommandContext) {
  for (const line of JSON.stringify(await createDocument(), undefined, 2).split('\n')) print(line)
}
