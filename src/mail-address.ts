import { domainToASCII } from 'node:url'

/**
 * Removes blanks at both ends of an e-mail address, and converts an international domain to ASCII: accounts have this
 * form of an address. Leaves an address with an invalid domain as it is.
 */
export function normalizeAddress(address: string) {
  const trimmed = address.trim()
  const at = trimmed.lastIndexOf('@') + 1
  return trimmed.slice(0, at) + (domainToASCII(trimmed.slice(at)) || trimmed.slice(at))
}
