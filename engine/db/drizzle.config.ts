import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  // drizzle-kit loads these files as CommonJS. It cannot load server.ts, which requires the patched ES module of the driver,
  // and the files that import server.ts. A file without tables needs no exclusion.
  schema: './engine/db/!(drizzle.config|inspection|open|server|*.d).ts',
  out: './engine/db/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
