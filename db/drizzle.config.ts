import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./db/auth.ts', './db/sessions.ts', './db/counter.ts', './db/tasks.ts', './db/notes.ts'],
  out: './db/migrations',
  casing: 'snake_case',
})
