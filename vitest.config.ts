import { configDefaults, defineConfig } from 'vitest/config'

/**
 * Limits of waiting, in milliseconds. A test waits for an event, so these limits only decide how long a broken build waits.
 * The limits of a test and of a hook are longer than the limit of an event, so that a failure names the event.
 */
const limits = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } }

/** Imports the service once for all test files of a worker, because an import takes longer than most tests. */
const sharedImports = { isolate: false }

// The name of a test file tells its project:
// - `*.test.ts` (quick): takes at most about two seconds over one transport, and needs no build.
// - `*.slow.test.ts`: takes longer, starts processes or serves built pages.
// - `*.isolated.test.ts`: replaces modules, or depends on the order of imports.
// - `*.long.test.ts`: takes up to minutes. `.ci/run` and `npm run test:all` run these tests.
// - `*.nightly.test.ts`: takes up to a quarter of an hour, and repeats a long test in other variants, for example with other package
//   managers. The nightly workflow and `npm run test:all` run these tests.
// - `*.browser.ts`: needs a browser.
export default defineConfig({
  test: {
    // Vitest leaves one processor free by default, which doubles the duration on two processors.
    maxWorkers: '100%',
    slowTestThreshold: 60_000,
    globalSetup: 'test/setup/postgres.ts',
    // Coverage does not include code that runs in child processes: main, workers and parts of the command line.
    coverage: {
      include: ['contract/**/*.ts', 'db/**/*.ts', 'engine/**/*.ts', 'src/**/*.ts'],
      // Browsers run the page, processes of their own run the commands for projects. Coverage sees neither.
      exclude: ['{db,engine/db}/drizzle.config.ts', 'engine/test/**', 'engine/dev/{page,create,project}/**'],
      reporter: ['text-summary'],
      // In percent, one below the last full run.
      thresholds: { statements: 91, branches: 87, functions: 91, lines: 92 },
    },
    projects: [
      {
        test: {
          name: 'quick',
          include: ['{test,engine/test}/**/*.test.ts', 'engine/dev/create/{samples,template}/test/*.test.ts'],
          exclude: [...configDefaults.exclude, '**/*.{slow,isolated,long,nightly}.test.ts'],
          ...sharedImports,
          ...limits,
        },
      },
      {
        test: {
          name: 'slow',
          include: ['{test,engine/test,engine/dev/create/samples/test}/**/*.slow.test.ts'],
          globalSetup: 'test/setup/build.ts',
          ...sharedImports,
          ...limits,
        },
      },
      { test: { name: 'isolated', include: ['{test,engine/test}/**/*.isolated.test.ts'], ...limits } },
      ...['long', 'nightly'].map((name) => ({
        test: {
          name,
          include: [`{test,engine/test}/**/*.${name}.test.ts`],
          globalSetup: ['test/setup/build.ts', 'test/setup/packages.ts'],
          ...limits,
        },
      })),
      {
        // Tests of the pages in a real browser, see `launchBrowser` in test/fixtures/browser.ts.
        test: {
          name: 'browser',
          include: ['test/**/*.browser.ts'],
          globalSetup: 'test/setup/build.ts',
          ...limits,
        },
      },
    ],
  },
})
