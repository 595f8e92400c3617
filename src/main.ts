import { once } from 'node:events'

import { createApp } from './app.ts'
import { openParts } from './service.ts'
import { readSettings } from './settings.ts'

/** How long a stop may take, in milliseconds. */
const DEADLINE = 10_000

try {
  const settings = readSettings(process.env)
  const parts = await openParts(settings)
  const server = createApp(parts)
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  server.listen(settings.port, settings.host)
  await once(server, 'listening')
  greet(settings.baseUrl, settings.host, settings.port)

  /** Finishes what is in flight, closes the database, and ends; a second signal ends at once. */
  function stop() {
    setTimeout(() => process.exit(1), DEADLINE).unref()
    // A connection that turns idle while the rest drains would hold the stop up.
    setInterval(() => {
      server.closeIdleConnections()
    }, 100)
    server.close(() => void parts.close().then(() => process.exit(0)))
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}

function greet(baseUrl: string, host: string, port: number) {
  process.stdout.write(
    [
      `Tallystick listens on ${host}:${port} as ${baseUrl}`,
      `  Reference   ${baseUrl}/docs`,
      `  Sign in     POST ${baseUrl}/api/auth/email-otp/send-verification-otp  {"email": "you@example.com", "type": "sign-in"}`,
      `              POST ${baseUrl}/api/auth/sign-in/email-otp  {"email": "you@example.com", "otp": "the code"}`,
      `              Without SMTP_URL the code stands in this log, and in a letter in the outbox.`,
      '',
    ].join('\n'),
  )
}
