import { appContract } from 'tallystick-contract'

import { ideas } from './ideas.ts'

/** The order is the order of the API reference, and of the tools for agents. The resources of the engine come first. */
export const contract = appContract({
  // The resources of this application.
  ideas,
})

export type Contract = typeof contract
