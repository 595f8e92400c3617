/** Creates the `Link` header of the next page of a list (RFC 8288). */
export const linkToNext = (path: string, query: URLSearchParams) =>
  `<${path}?${query.toString()}>; rel="next"`

/** Returns the cursor of the next page from a `Link` header, or undefined on the last page. */
export const nextCursor = (link: unknown) =>
  /[?&]cursor=([\w-]+)[^>]*>; rel="next"/.exec(typeof link === 'string' ? link : '')?.[1]
