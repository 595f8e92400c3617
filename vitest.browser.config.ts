import { defineConfig } from 'vitest/config'

/** The pages, in a real browser: needs Debian's chromium, or another at CHROMIUM. */
export default defineConfig({
  test: {
    include: ['test/**/*.browser.ts'],
    globalSetup: 'test/postgres.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
