import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './db/!(columns|drizzle.config|index|inspection|server|*.d).ts',
  out: './db/migrations',
  casing: 'snake_case',
})
