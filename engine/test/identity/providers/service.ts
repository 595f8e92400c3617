import { createRestClient, createRpcClient } from 'tallystick-contract'
import { defineApp } from 'tallystick'
import { createTallystick } from 'tallystick-dev/testing'

import type { SignIn, SignUpHook } from '../../../app/sign-in.ts'
import { app as library } from '../../library/app.ts'
import { books } from '../../library/books.ts'
import { type Client, contract } from '../../library/contract.ts'
import { loans } from '../../library/loans.ts'
import { shelves } from '../../library/shelves.ts'
import { visits } from '../../library/visits.ts'
import { bindService, settingsWithAddress } from '../../fixtures/bind-service.ts'
import type { Provider } from './provider.ts'

export const databases = {
  'a PostgreSQL server': {},
  'the embedded database': { DATABASE_URL: 'memory:' },
}

export const oidc = (
  { discoveryUrl }: Pick<Provider, 'discoveryUrl'>,
  providerId = 'acme',
  name = 'Acme',
) => ({
  providerId,
  name,
  discoveryUrl,
  clientId: 'library',
  clientSecret: 'secret of the library',
})

export function withSignIn(signIn: SignIn, onSignUp?: SignUpHook) {
  const { name, version, description, migrationsFolder } = library
  const resources = { visits, books, loans, shelves }
  return defineApp({ name, version, description, migrationsFolder, contract, resources, signIn, onSignUp })
}

/** Starts the library with providers, until the end of the file. */
export const startWithSignIn = async (
  signIn: SignIn,
  environment: Record<string, string> = {},
  onSignUp?: SignUpHook,
) =>
  bindService<Client>({
    createTallystick: (settings) => createTallystick(withSignIn(signIn, onSignUp), settings),
    createClient: (origin, options) => createRpcClient<typeof contract>(origin, options),
    createRestClient: (origin, options) => createRestClient(contract, origin, options),
  }).startService({ ...(await settingsWithAddress()), ...environment })
