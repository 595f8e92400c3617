// A file of its own, so that the declarations of an application's test harness need no packages of the server.

import type { OpenServices } from 'tallystick/internal/open-services'

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
  /** The sent e-mails, oldest first. */
  letters: Letter[]
  /** Serves the application over HTTP until `close`, by default on a free port. Returns the origin, for clients. */
  listen: (port?: number) => Promise<string>
  /** Stops the servers and closes the database. */
  close: () => Promise<void>
}
