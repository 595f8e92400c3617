import { createTallystick as createTallystickOf } from 'tallystick-dev/testing'
import type { Tallystick as TallystickOf } from 'tallystick-dev/testing/harness'

import type { Client } from '../contract/client.ts'
import { app } from './app.ts'

export type { Letter } from 'tallystick-dev/testing/harness'

/** The service in this process. */
export type Tallystick = TallystickOf<Client>

/**
 * Starts the service in this process, without a port. The procedures, guard, validation and errors are the same as over
 * HTTP. `environment` contains settings by name. By default, the database is a new one on the server of the test run, or
 * in memory if there is none.
 */
export const createTallystick = (environment?: Record<string, string>): Promise<Tallystick> =>
  createTallystickOf(app, environment)
