import { tokenClientIds } from 'tallystick-contract/internal'

import { listGrants } from '../db/accounts/oauth.ts'
import { readOnly } from '../db/catalogue.ts'
import type { Database } from '../db/connection/database.ts'
import type { State } from './contract.ts'

/** Maximum number of apps and agents in the state. */
const MAX_AGENTS = 10

/** Returns how the process and its database are, and which apps and agents have access. */
export async function readState(db: Database): Promise<State> {
  const start = performance.now()
  // An access token of a person for scripts is no agent.
  const grants = await readOnly(db, (tx) => listGrants(tx, tokenClientIds.service, MAX_AGENTS)).catch(
    () => undefined,
  )
  return {
    uptime: process.uptime(),
    memory: process.memoryUsage.rss(),
    database: grants ? performance.now() - start : null,
    agents: (grants ?? []).map(({ client, name, email, lastActive }) => ({
      name: name ?? (client === tokenClientIds.mcp ? 'Personal token' : (client ?? '')),
      email,
      lastActive: lastActive.getTime(),
    })),
  }
}
