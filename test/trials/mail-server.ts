import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

/** Maximum time that `consumeCode` waits for a message, in milliseconds. */
const TIMEOUT = 5000

export interface MailServer {
  url: string
  /** Removes and returns the code of the last message to an address. `undefined` after TIMEOUT. */
  consumeCode: (email: string) => Promise<string | undefined>
  /** The subjects of the other messages. */
  subjects: readonly string[]
  close: () => void
}

/** Starts an SMTP server that stores the sign-in codes and the other subjects of the messages that it receives. */
export async function startMailServer(): Promise<MailServer> {
  const codes = new Map<string, string>()
  const subjects: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, { envelope }, done) => {
      const store = (message: string) => {
        const code = /^Subject: (\d{6})/m.exec(message)?.[1]
        const subject = /^Subject: (.*)$/m.exec(message)?.[1]?.trim()
        if (code === undefined && subject !== undefined) subjects.push(subject)
        for (const { address } of envelope.rcptTo) if (code !== undefined) codes.set(address, code)
        done()
      }
      // A killed instance closes its connection within a message.
      text(stream).then(store, done)
    },
  })
  server.on('error', () => undefined)
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    subjects,
    close: () => {
      server.close()
    },
    consumeCode: async (email) => {
      const start = Date.now()
      while (!codes.has(email) && Date.now() - start < TIMEOUT) await sleep(10)
      const code = codes.get(email)
      codes.delete(email)
      return code
    },
  }
}
