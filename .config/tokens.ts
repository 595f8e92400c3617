import { writeFileSync } from 'node:fs'

import { tokens } from '../engine/html/tokens.ts'

// The page and the API reference import this copy.
writeFileSync('engine/dev/page/tokens.css', tokens)
