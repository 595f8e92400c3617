import { serve } from 'tallystick/serve'

import { app } from './app.ts'

// A program: serves the application with the settings of the environment.

await serve(app, process.env)
