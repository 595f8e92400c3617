import { createRestClient, tokens } from 'tallystick-contract/internal'

import type { CallerChoice, SamplePerson } from './contract.ts'
import type { People, ServiceParts } from './people.ts'

export type Headers = Record<string, string>

export type Credentials = ReturnType<typeof createCredentials>

/** Creates the credentials with which the console calls the service. */
export function createCredentials({ settings }: Pick<ServiceParts, 'settings'>, people: People) {
  const { host, port } = settings
  // A service that listens on all addresses also listens on loopback.
  const isAnyAddress = host === '0.0.0.0' || host === '::'
  const origin = `http://${isAnyAddress ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
  /** The headers with the credentials of each caller. Kept, so that only the first call of a caller signs in. */
  const credentials = new Map<string, Promise<Headers>>()

  const signIn = async (person: SamplePerson, scopes: CallerChoice['scopes']): Promise<Headers> => {
    const cookie = (await people.signIn(person)).map((line) => line.split(';', 1)[0]).join('; ')
    if (!scopes) return { cookie }
    const client = createRestClient({ tokens }, origin, { headers: { cookie } })
    const { token } = await client.tokens.create({ label: 'Console for developers', scopes, days: 1 })
    return { authorization: `Bearer ${token}` }
  }

  const keyOf = ({ person, scopes }: CallerChoice) => [person, ...(scopes ?? [])].join(' ')

  const headersOf = (caller: CallerChoice): Promise<Headers> => {
    const { person, scopes } = caller
    if (person === null) return Promise.resolve({})
    const key = keyOf(caller)
    const known = credentials.get(key) ?? signIn(person, scopes)
    credentials.set(key, known)
    // Forgets a failed sign-in, so that the next call tries again.
    known.catch(() => credentials.delete(key))
    return known
  }

  return {
    /** The origin of the service, for calls from this process. */
    origin,
    /** Returns the headers with the credentials of a caller. */
    headersOf,
    /** Forgets credentials that have ended, for example by a revocation. */
    forget: (caller: CallerChoice) => credentials.delete(keyOf(caller)),
    /** Forgets all credentials, because the accounts of sample people were deleted. */
    forgetAll: () => {
      credentials.clear()
    },
  }
}
