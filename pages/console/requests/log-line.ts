import { isRecord } from '../procedures/schema.ts'

/** The names of pino's levels. */
const levels: Partial<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** Returns a line of the log for people: its level, its message, and its other fields as JSON. */
export function toLogLine(line: string) {
  const { level, msg, time: _time, service: _service, release: _release, ...others } = parse(line)
  if (typeof level !== 'number') return line
  const rest = Object.keys(others).length > 0 ? JSON.stringify(others) : ''
  return [levels[level] ?? level, msg, rest].filter(Boolean).join(' ')
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : {}
  } catch {
    // A line that is cut at its limit.
    return {}
  }
}
