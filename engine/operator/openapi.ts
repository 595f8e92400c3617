import { createDocument } from '../openapi/document.ts'
import type { CommandContext } from './command-context.ts'

/** Prints the OpenAPI document. Reads only BASE_URL, because reading all settings creates the secret of the service. */
export async function printDocument({ environment, loadApp, print }: CommandContext) {
  const document = await createDocument(await loadApp(), environment.BASE_URL || 'http://localhost:3000')
  for (const line of JSON.stringify(document, undefined, 2).split('\n')) print(line)
}
