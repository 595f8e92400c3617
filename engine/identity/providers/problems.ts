/** Why a sign-in by a provider, or a connection with a provider, did not succeed. The pages have a text for each. */
export type ProviderProblemCode =
  'BANNED_USER' | 'NOT_CONNECTED' | 'OTHER_ADDRESS' | 'PROVIDER_FAILED' | 'UNVERIFIED_ADDRESS'

/** Rolls the transaction back. The message is for the log, and contains no data of the person. */
export class ProviderProblem extends Error {
  readonly code: ProviderProblemCode

  constructor(code: ProviderProblemCode, message: string) {
    super(message)
    this.code = code
  }
}
