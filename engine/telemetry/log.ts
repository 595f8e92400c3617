import type { WriteStream } from 'node:tty'
import { type DestinationStream, pino } from 'pino'

import type { Settings } from '../settings/settings.ts'
import { describeError, describeFully } from './error-descriptions.ts'
import { toReadableLine } from './readable-lines.ts'
import { recordLine } from './recording.ts'

/** Maximum length of a log line, in characters. */
const MAX_LINE = 8000
/** Maximum length of a path in the log and in traces, in characters. */
export const MAX_PATH = 300

/**
 * Creates the logger. Writes one JSON object per line, by default to standard output. A terminal shows lines for people instead
 * (engine/telemetry/readable-lines.ts), but not in production, where programs read the log.
 *
 * In production, the log contains of the input of a request only the path. Outside of production, errors have their messages and
 * statements, which can contain input, and without SMTP_URL the log has the e-mail address of a sign-in.
 */
export const createLog = (
  {
    logLevel,
    service,
    release,
    production,
  }: Pick<Settings, 'logLevel' | 'service' | 'release' | 'production'>,
  destination?: DestinationStream,
  terminal: Terminal = destination ? {} : process.stdout,
) => {
  const isForPeople = terminal.isTTY === true && !production
  return pino(
    {
      level: logLevel,
      base: { service, release },
      serializers: {
        err: (error: unknown) => (production ? describeError(error) : describeFully(error)),
        personName: (name: string) => (isForPeople ? name : undefined),
      },
      hooks: {
        streamWrite: (line) => {
          recordLine(line)
          const limited = limitLength(line)
          return isForPeople ? toReadableLine(limited, terminal.hasColors?.() ?? false) : limited
        },
      },
    },
    destination,
  )
}

/** What the logger needs to know of a stream. Other streams than terminals have neither. */
type Terminal = Partial<Pick<WriteStream, 'isTTY' | 'hasColors'>>

/** Replaces a line that is too long with a short line, because a truncated line would not be valid JSON. */
const limitLength = (line: string) =>
  line.length <= MAX_LINE
    ? line
    : `${JSON.stringify({ level: 50, time: Date.now(), msg: 'a log line was too long', length: line.length })}\n`
