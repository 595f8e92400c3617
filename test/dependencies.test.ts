import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Lock {
  packages: Record<string, { deprecated?: string }>
}

describe('dependencies', () => {
  test('have no deprecated package', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

    const deprecated = Object.entries(packages).filter(([, { deprecated }]) => deprecated !== undefined)

    expect(Object.keys(packages).length).toBeGreaterThan(500)
    expect(deprecated).toEqual([])
  })
})
