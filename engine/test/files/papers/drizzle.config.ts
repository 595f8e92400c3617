import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/test/files/papers/db.ts',
  out: './engine/test/files/papers/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
