// Without imports, so that the bundle of a page that uses only these values contains no schemas. Lengths are numbers of
// code points.

/** Maximum length of the label of a personal token, and its lifetime in days. */
export const tokenBounds = { label: 120, maxDays: 365, defaultDays: 90 }

/** Maximum length of the name of a person, and of the reason of a ban. */
export const MAX_NAME = 120

/** Maximum length of an e-mail address: `z.email().max(MAX_EMAIL)`. */
export const MAX_EMAIL = 254
