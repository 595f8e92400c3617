import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

/** How long a letter may take, in milliseconds. */
const PATIENCE = 5000

export interface Letters {
  url: string
  /** Takes the code of the last letter to an address; `undefined` if none comes in time. */
  takeCode: (email: string) => Promise<string | undefined>
}

/** A mail server that keeps the sign-in codes of the letters that it receives. */
export async function receiveLetters(): Promise<Letters> {
  const codes = new Map<string, string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, { envelope }, done) => {
      void text(stream).then((letter) => {
        const code = /^Subject: (\d{6})/m.exec(letter)?.[1]
        for (const { address } of envelope.rcptTo) if (code !== undefined) codes.set(address, code)
        done()
      })
    },
  })
  server.on('error', () => undefined)
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    takeCode: async (email) => {
      const start = Date.now()
      while (!codes.has(email) && Date.now() - start < PATIENCE) await sleep(10)
      const code = codes.get(email)
      codes.delete(email)
      return code
    },
  }
}
