import { domainToASCII } from 'node:url'

/** Whether a domain has none of the characters that `domainToASCII` removes or interprets as a part of a URL. */
const isPlain = (domain: string) => !/[\s%/\\?#:@]/.test(domain)

/**
 * Removes blanks at both ends of an e-mail address, and converts an international domain to ASCII: accounts have this
 * form of an address. Leaves an address with an invalid domain as it is.
 */
export function normalizeAddress(address: string) {
  const trimmed = address.trim()
  const at = trimmed.lastIndexOf('@') + 1
  const domain = trimmed.slice(at)
  return trimmed.slice(0, at) + (isPlain(domain) ? domainToASCII(domain) || domain : domain)
}
