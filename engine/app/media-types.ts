/** Each name has at most 127 characters (RFC 6838, section 4.2). */
const MEDIA_TYPE = /^[a-z\d][a-z\d!#$&^_.+-]{0,126}\/(?:\*|[a-z\d][a-z\d!#$&^_.+-]{0,126})$/

/** Returns whether a text is a media type in lower case without parameters, or a range such as `image/*`. */
export const isMediaType = (text: string) => MEDIA_TYPE.test(text)

/** Returns whether one of the media types and ranges matches a type. */
export const matchesType = (ranges: readonly string[], type: string) =>
  ranges.some((range) => range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1))))
