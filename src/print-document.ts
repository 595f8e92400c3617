import { createDocument } from './document.ts'

process.stdout.write(`${JSON.stringify(await createDocument(), undefined, 2)}\n`)
