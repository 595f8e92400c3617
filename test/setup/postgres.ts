import { createPostgresSetup } from '../../engine/dev/testing/setup.ts'
import { app as desk } from '../../engine/test/desk/app.ts'
import { app as library } from '../../engine/test/library/app.ts'
import { app } from '../../src/app.ts'

export default createPostgresSetup(app, library, desk)
