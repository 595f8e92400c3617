/** An error response of OAuth, with an error code of RFC 6749 or RFC 8707. */
export class OAuthError extends Error {
  readonly code: string
  /** The value of `WWW-Authenticate`. A response with a challenge has the status 401, other responses 400. */
  readonly challenge: string | undefined

  constructor(code: string, description: string, challenge?: string) {
    super(description)
    this.code = code
    this.challenge = challenge
  }
}
