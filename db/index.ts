import { fileURLToPath } from 'node:url'
import { open as openDatabase, type ServerOptions } from 'tallystick/db/open'

/** The build copies the folder next to the bundle. */
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** Opens a database of the service (engine/db/connection/open.ts), and applies pending migrations. */
export const open = (url: string, options?: ServerOptions) =>
  openDatabase(url, { migrationsFolder, ...options })
