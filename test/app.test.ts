import { traverseContractProcedures } from '@orpc/server'
import { expect, test } from 'vitest'

import { contract } from '../contract/index.ts'
import { appContract } from '../engine/contract/app-contract.ts'
import { metaOf } from '../engine/contract/meta.ts'
import { findMistakes } from '../engine/start/define-app/define-app.ts'
import { app } from '../src/app.ts'

test('finds no mistake in the service', () => {
  expect(findMistakes(app.resources)).toEqual([])
})

test('the cookies of the service have the prefix of release 1.0', () => {
  expect(app.cookiePrefix).toBe('better-auth')
})

test('every procedure of the resources that requires a session accepts a token with a scope', () => {
  const engine = Object.keys(appContract({}))
  const withoutScope: string[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    const { access, scope } = metaOf(procedure)
    if (access === 'signedIn' && !scope && !engine.includes(path[0] ?? '')) withoutScope.push(path.join('.'))
  })

  expect(withoutScope).toEqual([])
})
