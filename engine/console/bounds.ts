// Without imports, so that the page of the console can import the bounds.

/** The number of rows of a page, and the number of the last page, from 0. */
export const PAGE_SIZE = 50
export const LAST_PAGE = 1000

/** Maximum number of rows of an export, and the length of all their values after which an export ends, in characters. */
export const MAX_EXPORTED_ROWS = 1000
export const MAX_EXPORTED_LENGTH = 10_000_000

/** The number up to which the rows of a table are counted. */
export const MAX_TOTAL = 10_000

/** Maximum number of filters of a request for rows. */
export const MAX_FILTERS = 5

/** The text in place of a removed secret. */
export const REMOVED = '(removed)'

/** Maximum number of recorded requests that the page shows. The service keeps as many, to explain their statements. */
export const MAX_REQUESTS = 200

/** Maximum length of the value of a filter, and of a header of a call, in characters. */
export const MAX_TEXT = 200

/** Maximum number of shown headers of an e-mail. */
export const MAX_HEADERS = 100

/** Maximum number of people of a request for their addresses. */
export const MAX_IDS = 100

/** Maximum length of a value in a list of rows, in characters. A row and an export have values up to MAX_WHOLE_VALUE. */
export const MAX_VALUE = 500
export const MAX_WHOLE_VALUE = 65_536

/** Maximum length of a value of a primary key that names a row, in characters. */
export const MAX_KEY = 400

/** The number up to which the rows are counted that refer to a row. */
export const MAX_REFERRERS = 1000
