import { engineContract } from 'tallystick-contract'

import { ideas, ideasExport, ideasTopic } from './ideas.ts'

/** The parts of the export of an account, by the name of the resource. */
export const exportParts = {
  ideas: ideasExport,
}

const engine = engineContract({ topics: [ideasTopic], exportParts })

/** The order is the order of the API reference, and of the tools for agents. */
export const contract = {
  ...engine,
  ideas,
}

export type Contract = typeof contract
