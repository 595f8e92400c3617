import { laws } from 'tallystick-dev/testing/laws'

import { app } from './library/app.ts'
import { cases } from './library/cases.ts'

laws(app, cases)
