import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  // Also tables in folders of db/.
  schema: ['./db/*/**/*.ts', './db/!(drizzle.config|index).ts'],
  out: './db/migrations',
  // The names of files begin with the time, so that files of different branches have different names.
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
