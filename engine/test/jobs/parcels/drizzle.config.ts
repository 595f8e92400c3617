import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/test/jobs/parcels/db.ts',
  out: './engine/test/jobs/parcels/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
