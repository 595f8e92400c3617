import { implement } from '@orpc/server'
import { type Context, type Resource, withoutCaller } from 'tallystick'

import { contract, visitsTopic } from './contract.ts'
import * as query from './db.ts'

const os = implement(contract.visits).$context<Context>().use(withoutCaller)

const procedures = os.router({
  get: os.get.handler(async ({ context: { db } }) => ({ count: await query.countVisits(db) })),
  add: os.add.handler(async ({ context: { db } }) => ({ count: await query.addVisit(db) })),
})

const patch = ({ count }: { count: number }) => ({
  selector: '#visits',
  html: `<output>${count}</output>`,
  signals: { count },
})

export const visits = {
  description: 'The number of visits.',
  procedures,
  datastar: { patches: { get: patch }, live: { topic: visitsTopic, patch } },
} satisfies Resource
