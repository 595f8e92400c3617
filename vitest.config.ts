import { defineConfig } from 'vitest/config'

/** Tests that start processes, bundle the package, or wait on purpose. They take most of the time. */
const processTests = [
  'cli',
  'operator-databases',
  'operator-process',
  'package',
  'private',
  'process',
  'production-log',
].map((name) => `test/${name}.test.ts`)

const timeouts = { testTimeout: 20_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    // Runs once for all projects.
    globalSetup: 'test/postgres.ts',
    projects: [
      {
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: processTests,
          ...timeouts,
        },
      },
      {
        test: {
          name: 'process',
          include: processTests,
          globalSetup: 'test/bundle.ts',
          ...timeouts,
        },
      },
      {
        // The pages in a real browser: Debian's chromium, or the program at CHROMIUM.
        test: {
          name: 'browser',
          include: ['test/**/*.browser.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
