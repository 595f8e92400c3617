import { DrizzleQueryError } from 'drizzle-orm/errors'
import { pino, stdSerializers } from 'pino'

import type { Settings } from './settings.ts'

/** Structured lines on standard output. What a failed statement carried stays out of them. */
export const createLog = ({ logLevel, service, release }: Settings) =>
  pino({
    level: logLevel,
    base: { service, release },
    serializers: {
      err: (error: unknown) =>
        stdSerializers.err((error instanceof DrizzleQueryError ? error.cause : error) as Error),
    },
    redact: {
      paths: ['query', 'parameters', 'args', 'detail', 'where', 'headers'].map((key) => `err.${key}`),
      remove: true,
    },
  })
