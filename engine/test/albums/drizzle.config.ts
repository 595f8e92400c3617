import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/test/albums/db.ts',
  out: './engine/test/albums/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
