import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/db/accounts/*.ts',
  out: './engine/db/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
