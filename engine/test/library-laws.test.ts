import { laws } from 'tallystick/testing/laws'

import { app } from './library/app.ts'
import { cases } from './library/cases.ts'

laws(app, cases)
