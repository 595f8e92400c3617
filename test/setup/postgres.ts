import { createPostgresSetup } from '../../engine/dev/testing/setup.ts'
import { app as albums } from '../../engine/test/albums/app.ts'
import { app as desk } from '../../engine/test/desk/app.ts'
import { app as parcels } from '../../engine/test/jobs/parcels/app.ts'
import { app as library } from '../../engine/test/library/app.ts'
import { app as tracker } from '../../engine/test/tracker/app.ts'
import { app } from '../../src/app.ts'

export default createPostgresSetup(app, library, desk, tracker, albums, parcels)
