import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './engine/test/desk/db.ts',
  out: './engine/test/desk/migrations',
  casing: 'snake_case',
})
