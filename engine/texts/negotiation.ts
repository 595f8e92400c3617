import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'
import { type Language, matchLanguage } from 'tallystick-contract/internal'

/** Maximum number of language tags that are read from one header. */
const MAX_TAGS = 50

/** Maximum total size, in characters, of the cache that maps `Accept-Language` headers to languages. */
const MAX_CACHED_HEADERS = 1_000_000

const negotiated = new LRUCache<string, Language>({
  maxSize: MAX_CACHED_HEADERS,
  sizeCalculation: (language, header) => header.length + language.length,
})

/**
 * Returns the best supported language for an `Accept-Language` header. The language is cached for each header, because
 * browsers send few different headers, and parsing a header takes 30 µs.
 */
export function findLanguage(acceptLanguage: string) {
  const language = negotiated.get(acceptLanguage) ?? selectLanguage(acceptLanguage)
  negotiated.set(acceptLanguage, language)
  return language
}

/** Selects a language by the quality values (RFC 9110) and the language tags (BCP 47) of the header. The fallback is English. */
function selectLanguage(acceptLanguage: string) {
  const firstTags = acceptLanguage.split(',', MAX_TAGS).join()
  return matchLanguage(new Negotiator({ headers: { 'accept-language': firstTags } }).languages())
}
