// Without imports, so that a page can use this file without the schemas of the contract.

/** What a personal token can call: the service (REST and RPC), or the endpoint for AI agents. */
export const audiences = ['service', 'mcp'] as const

/** The `clientId` of a personal token in the list of apps, by the audience of the token. No app has such an id. */
export const tokenClientIds: Record<(typeof audiences)[number], string> = {
  service: 'token',
  mcp: 'token:/mcp',
}
