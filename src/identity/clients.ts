import { v7 } from 'uuid'
import type { z } from 'zod'

import type { Database } from '../../db/database.ts'
import { findClient, insertClient } from '../../db/oauth.ts'
import { type Client, deceptive, type Registration, tidy, UNNAMED } from './client-metadata.ts'

export const register = async (
  db: Database,
  { client_name, redirect_uris }: z.infer<typeof Registration>,
) => {
  const client = { id: v7(), name: client_name, redirectUris: redirect_uris }
  await insertClient(db, client)
  return client
}

/** An app that registered itself. */
export async function findRegistered(db: Database, id: string): Promise<Client | undefined> {
  const client = await findClient(db, id)
  return client && { ...client, name: displayed(client.name), trusted: false }
}

/** A name that was stored before these rules. */
const displayed = (name: string) => tidy(name.replace(deceptive, '\u{FFFD}')) || UNNAMED
