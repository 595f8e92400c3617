import type { Endpoint } from './client.ts'

/**
 * An OAuth provider in memory, in the form that all clients based on the MCP SDK accept. Starts without a client id and
 * without tokens. The person consents when the client requests the authorization.
 */
export function createProvider({ consent }: Pick<Endpoint, 'consent'>) {
  const stored: { client?: { client_id: string }; tokens?: Tokens; verifier?: string; redirect?: URL } = {}
  return {
    redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1:9/callback'], client_name: 'An agent' },
    clientInformation: () => stored.client,
    saveClientInformation: (client: { client_id: string }) => {
      stored.client = client
    },
    tokens: () => stored.tokens,
    saveTokens: (tokens: Tokens) => {
      stored.tokens = tokens
    },
    async redirectToAuthorization(authorizationUrl: URL) {
      stored.redirect = await consent(authorizationUrl.href)
    },
    saveCodeVerifier: (verifier: string) => {
      stored.verifier = verifier
    },
    codeVerifier: () => stored.verifier ?? '',
    /** The parameters of the redirect. Throws an error if the client has not requested the authorization. */
    get redirect() {
      if (!stored.redirect) throw new Error('The client has not requested an authorization')
      return stored.redirect.searchParams
    },
    get code() {
      return this.redirect.get('code') ?? ''
    },
  }
}

interface Tokens {
  access_token: string
  token_type: string
  refresh_token?: string
}
