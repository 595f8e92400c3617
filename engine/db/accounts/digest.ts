import { createHash } from 'node:crypto'

/** Returns the SHA-256 digest in base64url. Only for texts that nobody can guess, because the digest has no key and is fast. */
export const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url')
