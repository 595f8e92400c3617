import bowser from 'bowser'
import { LRUCache } from 'lru-cache'

/** Name of a browser or an operating system that the parser does not recognize. */
export const UNKNOWN = 'Unknown'

/**
 * Maximum length of a user agent for parsing, in characters. A longer user agent is truncated, because the parsing time
 * grows with the length.
 */
const MAX_PARSED_LENGTH = 500

/** Parsing takes up to 0.4 ms, and most entries of a list have the same few user agents. */
const devices = new LRUCache<string, { browser: string; os: string }>({
  max: 1000,
  memoMethod: (userAgent) => {
    const { browser, os } = bowser.parse(userAgent)
    return { browser: browser.name || UNKNOWN, os: os.name || UNKNOWN }
  },
})

/** Returns the names of the browser and the operating system in a user agent. bowser rejects an empty text, so a blank replaces it. */
export const parseUserAgent = (userAgent: string | null) =>
  devices.memo(userAgent?.slice(0, MAX_PARSED_LENGTH) || ' ')
