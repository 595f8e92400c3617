import { laws } from 'tallystick-dev/testing/laws'

import { app } from './tracker/app.ts'
import { cases } from './tracker/cases.ts'

laws(app, cases)
