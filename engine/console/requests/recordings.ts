import { randomUUID } from 'node:crypto'

import type { Recording } from '../../telemetry/recording.ts'

/** Limits of the memory for one request: statements, and characters of a statement. MAX_CALLS is in engine/telemetry/recording.ts. */
const MAX_STATEMENTS = 50
export const MAX_STATEMENT = 8192

/** Returns a recording that begins now. */
export const createRecording = (id: string): Recording => ({
  id,
  startedAt: performance.now(),
  calls: [],
  statements: [],
  lines: [],
  jobs: [],
  statementCount: 0,
  databaseTime: 0,
  runningStatements: 0,
  databaseSince: 0,
  isOver: false,
})

/** Adds a statement that has ended, up to a limit. */
export function addStatement(recording: Recording, statement: Omit<Recording['statements'][number], 'id'>) {
  recording.statementCount++
  if (recording.statements.length < MAX_STATEMENTS)
    recording.statements.push({
      ...statement,
      id: randomUUID(),
      text: statement.text.slice(0, MAX_STATEMENT),
    })
}
