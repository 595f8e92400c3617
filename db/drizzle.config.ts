import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  // The tables of the service. The tables of the engine have migrations of their own.
  schema: './db/!(drizzle.config|index).ts',
  out: './db/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
