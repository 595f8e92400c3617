import pluralize from 'pluralize-esm'

import { accountPaths } from '../../page/paths.ts'

/** The names of a resource in different places: for `book-loans`. */
export interface ResourceNames {
  /** In files and paths: `book-loans`. */
  kebab: string
  /** Of the view of the page: `/book-loans`. */
  path: string
  /** In code, in the contract and in topics: `bookLoans`, and `bookLoan` for one item. */
  camel: string
  camelOne: string
  /** In types and schemas: `BookLoans`, and `BookLoan` for one item. */
  pascal: string
  pascalOne: string
  /** In the database: `book_loans`, and `book_loan` for one item. */
  snake: string
  snakeOne: string
  /** In texts: `book loans`, and `book loan` for one item. */
  words: string
  wordsOne: string
}

const NAME = /^[a-z][a-z0-9-]{1,40}$/

export const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

const toCamel = (kebab: string) => kebab.replace(/-+(.)/g, (_, letter: string) => letter.toUpperCase())

// Nouns that the library does not know.
for (const one of ['avalanche', 'cache', 'canvas', 'genie', 'headache', 'hoodie', 'lens', 'niche', 'selfie'])
  pluralize.addIrregularRule(one, one === 'canvas' || one === 'lens' ? `${one}es` : `${one}s`)
for (const word of ['feedback', 'species']) pluralize.addUncountableRule(word)

/** Paths that every application has. */
const PATHS: readonly string[] = [...accountPaths, '/docs', '/metrics']

/** Words that cannot be the name of a variable. */
const RESERVED = new Set(
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield'.split(
    ' ',
  ),
)

/**
 * Returns possible names for one item, the best first. An item of `news` is a `news-item`, and so is an item of a resource
 * whose singular has another meaning in the code, for example `class`.
 */
export function singularsOf(name: string): string[] {
  const [, start = '', word = ''] = /^(.*-)?([^-]*)$/.exec(name) ?? []
  const one = pluralize.singular(word)
  if (one !== word) return [start + one, `${start}${one}-item`, `${start}${one}-entry`]
  const plural = pluralize.plural(word)
  if (plural !== word)
    throw new Error(
      `${name} is no plural. Choose ${start}${plural}, or add the name of one item: --singular <name>`,
    )
  return [`${name}-item`, `${name}-entry`]
}

/** Throws if the name has a form that paths, tables and variables cannot have. */
function checkForm(name: string) {
  if (!NAME.test(name) || /--|-$|-\d/.test(name))
    throw new Error(
      `${name} is no name of a resource: use 2 to 41 lower-case letters, digits and single hyphens, such as book-loans.`,
    )
}

/** Returns the names of a resource. `one` is the name of one item. */
export function toResourceNames(name: string, one: string): ResourceNames {
  checkForm(one)
  if (name === one) throw new Error('The name of one item must differ from the name of the resource.')
  const [camel, camelOne] = [toCamel(name), toCamel(one)]
  return {
    kebab: name,
    path: PATHS.includes(`/${name}`) ? `/my-${name}` : `/${name}`,
    camel,
    camelOne,
    pascal: capitalize(camel),
    pascalOne: capitalize(camelOne),
    snake: name.replaceAll('-', '_'),
    snakeOne: one.replaceAll('-', '_'),
    words: name.replaceAll('-', ' '),
    wordsOne: one.replaceAll('-', ' '),
  }
}

/** Returns the first names of a resource for which `findProblem` returns nothing. Throws the first problem if there are none. */
export function chooseNames(
  name: string,
  one: string | undefined,
  findProblem: (names: ResourceNames) => string | undefined,
): ResourceNames {
  checkForm(name)
  const [first = '', ...others] = one === undefined ? singularsOf(name) : [one]
  const names = toResourceNames(name, first)
  const problem = findReserved(names) ?? findProblem(names)
  if (problem === undefined) return names
  for (const other of others.map((each) => toResourceNames(name, each)))
    if ((findReserved(other) ?? findProblem(other)) === undefined) return other
  throw new Error(problem)
}

const findReserved = ({ camel, camelOne }: ResourceNames) => {
  const word = [camel, camelOne].find((each) => RESERVED.has(each))
  return word && `${word} is a word of TypeScript. Choose another name.`
}
