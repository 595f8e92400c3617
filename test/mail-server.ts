import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import { onTestFinished } from 'vitest'

/** Makes a mail server listen until the end of the test. Returns its host and port. */
export async function listenForMail(server: SMTPServer) {
  server.on('error', () => undefined)
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
      }),
  )
  return `127.0.0.1:${(listening.address() as AddressInfo).port}`
}
