import type { Recording } from '../../telemetry/recording.ts'

/** Returns a recording that begins now. */
export const createRecording = (id: string): Recording => ({
  id,
  startedAt: performance.now(),
  calls: [],
  statements: [],
  lines: [],
  statementCount: 0,
  databaseTime: 0,
  runningStatements: 0,
  databaseSince: 0,
  isOver: false,
})
