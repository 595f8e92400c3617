import { z } from 'zod'
import { text } from 'tallystick-contract/internal'

import type { ProviderName } from '../../app/sign-in.ts'
import { get, type Operation, post } from './auth-operations.ts'

export const START = '/sign-in/social'
const CALLBACK = '/callback/'

export const isCallback = (path: string) => path.startsWith(CALLBACK)

/** As long as a target of a request. */
const MAX_PATH = 8 * 1024
/** A host that no path can name. */
const BASE = 'http://base.invalid'

/** Whether a browser stays on this service, whatever parser it has: only a path in normal form, as `location` has it. */
function isOwnPath(path: string) {
  if (!path.startsWith('/') || path.startsWith('//') || !URL.canParse(path, BASE)) return false
  const { pathname, search } = new URL(path, BASE)
  return pathname + search === path && !/%(2f|5c)/i.test(pathname)
}

const Path = text({ max: MAX_PATH }).refine(
  isOwnPath,
  'Must be a path of this service, such as /books?page=2',
)

/** Returns the operations of better-auth for the sign-in by providers. None without providers. */
export function providerOperations(providers: readonly ProviderName[]): Record<string, Operation> {
  if (providers.length === 0) return {}
  const Start = z
    .object({ provider: z.enum(providers.map(({ id }) => id)), callbackURL: Path })
    // The state of better-auth does not name the provider otherwise.
    .transform((input) => ({
      ...input,
      disableRedirect: true,
      additionalData: { providerId: input.provider },
    }))
  const callback = get(
    'state',
    z.object({ code: text(), error: text(), state: text(), iss: text() }).partial(),
  )
  return {
    [START]: post('public', Start),
    '/list-accounts': get('signedIn'),
    '/link-social': post('signedIn', Start),
    '/unlink-account': post('signedIn', z.object({ accountId: text({ min: 1, max: 64 }) })),
    ...Object.fromEntries(providers.map(({ id }) => [CALLBACK + id, callback])),
  }
}
