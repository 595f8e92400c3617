import { buildPages } from '../.config/pages.ts'

/** Builds the pages before the tests, because an earlier build may be out of date. */
export const setup = async () => {
  await buildPages()
}
