import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { planJoin } from '../../dev/create/migration/snapshots.ts'

interface State {
  prevId: string
  tables: object
  enums?: object
}

const first = {
  prevId: 'none',
  tables: { a: { columns: { id: {} } } },
  enums: { color: { values: ['red'] } },
}

/** Writes a folder of migrations: the snapshot of each by its name, which begins with the id. Returns the plan. */
function planFor(states: Record<string, State | string>, journal = Object.keys(states)) {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-snapshots-test-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  mkdirSync(join(folder, 'meta'))
  for (const [tag, state] of Object.entries(states)) {
    const id = tag.split('_', 1)[0] ?? ''
    writeFileSync(join(folder, `${tag}.sql`), 'select 1')
    const text = typeof state === 'string' ? state : JSON.stringify({ id, ...state })
    writeFileSync(join(folder, `meta/${id}_snapshot.json`), text)
  }
  const entries = journal.map((tag, idx) => ({ idx, tag, when: idx }))
  writeFileSync(join(folder, 'meta/_journal.json'), JSON.stringify({ entries }))
  const { files, problems } = planJoin(folder)
  return {
    problems,
    contents: new Map([...files].map(([file, text]) => [file, JSON.parse(text) as unknown])),
  }
}

describe('the snapshots of merged branches', () => {
  test('stay if each descends from the previous one', () => {
    expect(planFor({ '1_a': first, '2_b': { ...first, prevId: '1' } })).toEqual({
      problems: [],
      contents: new Map(),
    })
  })

  test('get the changes of the earlier branch: tables, columns and values of enums', () => {
    const left = { a: { columns: { id: {}, left: {} } }, b: {} }
    const right = { a: { columns: { id: {}, right: {} } } }
    const { problems, contents } = planFor({
      '1_first': first,
      '2_left': { prevId: '1', tables: left, enums: { color: { values: ['red', 'blue'] } } },
      '3_right': { prevId: '1', tables: right, enums: { color: { values: ['red', 'green'] } } },
      '4_after': { prevId: '3', tables: {}, enums: { color: { values: ['red', 'green'] } } },
    })

    expect(problems).toEqual(['meta/3_snapshot.json lacks the changes of another branch'])
    expect(contents.get('meta/3_snapshot.json')).toEqual({
      id: '3',
      prevId: '2',
      tables: { a: { columns: { id: {}, left: {}, right: {} } }, b: {} },
      enums: { color: { values: ['red', 'blue', 'green'] } },
    })
    // The branch on the right has dropped its table.
    expect(contents.get('meta/4_snapshot.json')).toMatchObject({ prevId: '3', tables: { b: {} } })
    expect(contents.has('meta/2_snapshot.json')).toBe(false)
  })

  test('are in the order of their names, and the journal too', () => {
    const states = {
      '0000_first': first,
      '20260102030405_b': { ...first, prevId: '0000' },
      '20260102030406_c': { ...first, prevId: '20260102030405' },
    }
    const { problems, contents } = planFor(states, ['0000_first', '20260102030406_c'])

    expect(problems).toEqual(['meta/_journal.json lacks 20260102030405_b'])
    expect(contents.get('meta/_journal.json')).toMatchObject({
      entries: [
        { idx: 0, tag: '0000_first' },
        { idx: 1, tag: '20260102030405_b', when: Date.UTC(2026, 0, 2, 3, 4, 5) },
        { idx: 2, tag: '20260102030406_c' },
      ],
    })
  })

  test('with the conflicts of git are refused, and named', () => {
    expect(() => planFor({ '1_a': '<<<<<<< HEAD' })).toThrow(
      /^meta\/1_snapshot\.json is no JSON.*either side/,
    )
  })

  test('names without a number keep the order of the journal', () => {
    const states = { b: first, c: { ...first, prevId: 'b' } }

    expect(planFor(states, ['c', 'b'])).toEqual({ problems: [], contents: new Map() })
  })
})
