import type { Client } from '../contract/client.ts'
import {
  createTallystick as createTallystickOf,
  type Tallystick as TallystickOf,
} from './create-tallystick.ts'
import { app } from './app.ts'

export type { Letter } from './create-tallystick.ts'

export type Tallystick = TallystickOf<Client>

/**
 * Starts the service in this process, without a port. The procedures, guard, validation and errors are the same as over
 * HTTP. `environment` contains settings by name. By default the database is in memory.
 */
export const createTallystick = (environment?: Record<string, string>): Promise<Tallystick> =>
  createTallystickOf(app, environment)
