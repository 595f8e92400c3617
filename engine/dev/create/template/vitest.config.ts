import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Without isolation, the test files of a worker share the imports, which take longer than most tests.
  test: {
    isolate: false,
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/setup.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
