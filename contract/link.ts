/** Where the next page of a list is, as a header says it (RFC 8288). */
export const linkToNext = (path: string, query: URLSearchParams) =>
  `<${path}?${query.toString()}>; rel="next"`

/** The cursor of the next page, from the header that says where it is. */
export const nextCursor = (link: unknown) =>
  /[?&]cursor=([\w-]+)[^>]*>; rel="next"/.exec(typeof link === 'string' ? link : '')?.[1]
