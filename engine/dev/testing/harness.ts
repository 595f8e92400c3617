// Only types, for an application that publishes a test harness of its own (src/testing.ts of the service): its declarations
// then need no packages of the server. Tests use `createTallystick` of engine/dev/testing/index.ts.

import type { JobAttempt } from 'tallystick/internal/app/job'
import type { createContext } from 'tallystick/internal/guard/authentication'
import type { OpenServices } from 'tallystick/internal/start/open-services'

/** An e-mail that the application has sent. */
export interface Letter {
  to: string
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
}

/** An application in this process, with the type of its clients. */
export interface Tallystick<Client> {
  /**
   * Signs in with an e-mail address, and returns a client with the new session. By default, the address is random, so
   * that the sign-in creates a new person.
   */
  person: (email?: string) => Promise<Client>
  /** A client without a session. */
  stranger: Client
  /** Signs in by an e-mailed code. Returns the `cookie` header of the session. */
  signIn: (email: string) => Promise<string>
  /** Returns a client that sends these headers with each call. */
  client: (headers: Record<string, string>) => Client
  /**
   * The services. A test can pass the services to `createApp`, to serve the same data over HTTP.
   *
   * @internal The declarations of the package omit this property, because its types need packages that are part of the
   *   bundle.
   */
  services: Omit<OpenServices, 'close'>
  /** Returns the context of a call without a caller, for example to call `enqueue`. */
  context: () => ReturnType<typeof createContext>
  /**
   * Runs the jobs that are due until a time, by default now, one after the other: also retries, schedules, and jobs that these jobs
   * enqueue. Returns how each attempt ended.
   */
  runDueJobs: (options?: { until?: Date }) => Promise<JobAttempt[]>
  /** The sent e-mails, oldest first. */
  letters: Letter[]
  /** Serves the application over HTTP until `close`, by default on a free port. Returns the origin, for clients. */
  listen: (port?: number) => Promise<string>
  /** Stops the servers and closes the database. */
  close: () => Promise<void>
}
