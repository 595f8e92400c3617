import { defineConfig } from 'vitest/config'

/** Tests that take several seconds, start processes, replace modules or depend on timing. */
const slowTests = [
  'administration',
  'admission',
  'audit-actions',
  'audit-embedded',
  'cli',
  'client-package',
  'client-documents',
  'compiled',
  'credentials',
  'cuts',
  'database',
  'deletion',
  'failover',
  'first-resource',
  'health',
  'impersonation',
  'input-validation',
  'isolation',
  'large-lists',
  'leaks',
  'lists',
  'live-clients',
  'live-http',
  'live-limits',
  'live-readers',
  'mcp-tools',
  'openauth-tokens',
  'operator',
  'operator-databases',
  'operator-process',
  'package',
  'primary',
  'private',
  'process',
  'production-log',
  'random-requests',
  'raw',
  'requests',
  'streams',
  'tracing',
].map((name) => `test/${name}.test.ts`)

const timeouts = { testTimeout: 20_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    // The global setup runs once for all projects.
    globalSetup: ['test/postgres.ts', 'test/pages.ts'],
    // Coverage does not include code that runs in child processes: main, workers and parts of the command line.
    coverage: {
      include: ['contract/**/*.ts', 'db/**/*.ts', 'src/**/*.ts'],
      exclude: ['db/drizzle.config.ts'],
      reporter: ['text-summary'],
      // In percent, one below the last full run.
      thresholds: { statements: 91, branches: 89, functions: 90, lines: 92 },
    },
    projects: [
      {
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: slowTests,
          // Imports the service once for all test files, because an import takes longer than most tests.
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
        // Tests of the pages in a real browser: Debian's Chromium, or the program at the path in CHROMIUM.
        test: {
          name: 'browser',
          include: ['test/**/*.browser.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // The time that Playwright waits for an element in these tests.
          expect: { poll: { timeout: 10_000 } },
        },
      },
    ],
  },
})
