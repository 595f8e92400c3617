import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  // drizzle-kit loads these files as CommonJS. It cannot load engine/db/server.ts, which requires the patched ES module of the driver,
  // and the files that import engine/db/server.ts. A file without tables needs no exclusion.
  schema: ['./engine/db/!(inspection|open|server|*.d).ts', './db/!(drizzle.config|index).ts'],
  out: './db/migrations',
  casing: 'snake_case',
})
