import type { EngineContract } from 'tallystick-contract/internal'

import { createAccount } from './account.ts'
import { apps } from './apps.ts'
import { createAudit } from './audit.ts'
import { createLive } from './live.ts'
import { sessions } from './sessions.ts'
import { status } from './status.ts'
import { tokens } from './tokens.ts'
import type { Resource } from '../app/resource.ts'

/** Creates the resources that every application has. */
export const createEngineResources = ({
  account,
  audit,
  live,
}: EngineContract): Record<keyof EngineContract, Resource> => ({
  status,
  account: createAccount(account),
  sessions,
  live: createLive(live),
  apps,
  tokens,
  audit: createAudit(audit),
})
