import { v7 } from 'uuid'

import type { Settings } from '../settings/settings.ts'
import type { Database } from '../db/connection/database.ts'
import { findClient, insertClient } from '../db/accounts/oauth.ts'
import { type ClientMetadata, usesDeviceFlow } from './client-metadata.ts'
import { type Client, findConfiguredClient, toDisplayName } from '../settings/oauth-clients.ts'

/** Registers an app under a new client id (RFC 7591). */
export const registerClient = async (db: Database, registered: ClientMetadata) => {
  const client = {
    id: v7(),
    name: registered.client_name,
    redirectUris: registered.redirect_uris,
    usesDeviceFlow: usesDeviceFlow(registered),
  }
  await insertClient(db, client)
  return client
}

/** Finds an app that registered itself at /register. */
export async function findRegisteredClient(db: Database, id: string): Promise<Client | undefined> {
  // PostgreSQL reports an error for a text with NUL.
  const client = id.includes('\0') ? undefined : await findClient(db, id)
  return client && { ...client, name: toDisplayName(client.name), trusted: false }
}

/**
 * Returns whether an app can have codes and tokens. Returns true for every client id that is a URL, because a token
 * request must not depend on a fetch of the app's metadata document.
 */
export const mayBeKnown = async ({ db, settings }: { db: Database; settings: Settings }, id: string) =>
  id.startsWith('https://') ||
  findConfiguredClient(settings.oauthClients, id) !== undefined ||
  (await findRegisteredClient(db, id)) !== undefined
