import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/test/library/db.ts',
  out: './engine/test/library/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
