import { v7 } from 'uuid'
import type { z } from 'zod'

import type { Database } from '../../db/database.ts'
import { findClient, insertClient } from '../../db/oauth.ts'
import type { Services } from '../context.ts'
import {
  type Client,
  deceptiveCharacters,
  findConfiguredClient,
  type Registration,
  normalizeName,
  UNNAMED,
} from './client-metadata.ts'

/** Registers an app under a new client id (RFC 7591). */
export const registerClient = async (
  db: Database,
  { client_name, redirect_uris }: z.infer<typeof Registration>,
) => {
  const client = { id: v7(), name: client_name, redirectUris: redirect_uris }
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
 * Replaces deceptive characters in a stored name, because an earlier release may have stored the name without checking
 * for these characters.
 */
const toDisplayName = (name: string) =>
  normalizeName(name.replace(deceptiveCharacters, '\u{FFFD}')) || UNNAMED

/**
 * Returns whether an app can have codes and tokens. Returns true for every client id that is a URL, because a token
 * request must not depend on a fetch of the app's metadata document.
 */
export const mayBeKnown = async ({ db, settings }: Pick<Services, 'db' | 'settings'>, id: string) =>
  id.startsWith('https://') ||
  findConfiguredClient(settings.oauthClients, id) !== undefined ||
  (await findRegisteredClient(db, id)) !== undefined
