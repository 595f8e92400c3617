import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './db/!(index|columns|drizzle.config|*.d).ts',
  out: './db/migrations',
  casing: 'snake_case',
})
