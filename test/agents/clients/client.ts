import { setTimeout as sleep } from 'node:timers/promises'

/** A connected agent. */
export interface Connection {
  /** Returns the names of the tools. */
  list(): Promise<string[]>
  /** Calls a tool, and returns the result in the form of the client. */
  call(tool: string, input: Record<string, unknown>): Promise<unknown>
  close(): Promise<unknown>
}

/** What an agent knows at first: the address of the MCP endpoint. */
export interface Endpoint {
  url: string
  /** The person: opens an authorization URL, signs in and consents. Returns the URL of the redirect. */
  consent: (authorizationUrl: string) => Promise<URL>
}

export type Connect = (endpoint: Endpoint) => Promise<Connection>

/**
 * Opens the URL of a redirect, as the browser of the person does. Repeats the request until the program listens, because
 * some programs print the authorization URL before they listen.
 */
export async function followRedirect(redirect: URL) {
  for (let attempt = 0; ; attempt++)
    try {
      return await fetch(redirect)
    } catch (error) {
      if (attempt === 100) throw error
      await sleep(100)
    }
}
