import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./engine/dev/create/samples/db/gardens.ts', './engine/dev/create/samples/db/plants.ts'],
  out: './engine/dev/create/samples/db/migrations',
  migrations: { prefix: 'timestamp' },
  casing: 'snake_case',
})
