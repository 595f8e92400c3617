import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/test/desk/db.ts',
  out: './engine/test/desk/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
