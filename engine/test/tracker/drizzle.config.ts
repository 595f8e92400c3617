import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/test/tracker/db.ts',
  out: './engine/test/tracker/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
