import { defineConfig } from 'vitest/config'

/** Tests that start processes, build the package, replace modules or wait for timeouts. */
const slowTests = [
  'cli',
  'compiled',
  'cuts',
  'failover',
  'first-resource',
  'health',
  'leaks',
  'operator-databases',
  'operator-process',
  'package',
  'primary',
  'private',
  'process',
  'production-log',
  'streams',
  'tracing',
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
          exclude: slowTests,
          // Imports the service once instead of once for each file, which takes longer than most tests.
          isolate: false,
          ...timeouts,
        },
      },
      {
        test: {
          name: 'slow',
          include: slowTests,
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
