/** The names of a resource in different places: for `book-loans`. */
export interface ResourceNames {
  /** In files and paths: `book-loans`. */
  kebab: string
  /** In code, in the contract and in topics: `bookLoans`, and `bookLoan` for one item. */
  camel: string
  camelOne: string
  /** In types and schemas: `BookLoans`, and `BookLoan` for one item. */
  pascal: string
  pascalOne: string
  /** In the database: `book_loans`. */
  snake: string
  /** In texts: `book loans`, and `book loan` for one item. */
  words: string
  wordsOne: string
}

const NAME = /^[a-z][a-z0-9-]{1,40}$/

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

const toCamel = (kebab: string) => kebab.replace(/-+(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the singular of a regular English plural. Undefined if the name is none. */
function singularOf(plural: string) {
  if (/[^aeiou]ies$/.test(plural)) return plural.replace(/ies$/, 'y')
  if (/(ss|sh|ch|x|z)es$/.test(plural)) return plural.replace(/es$/, '')
  return /[^s]s$/.test(plural) ? plural.replace(/s$/, '') : undefined
}

/** Returns the names of a resource. `one` is the name of one item, if the name is no regular plural. */
export function toResourceNames(name: string, one = singularOf(name)): ResourceNames {
  if (one === undefined)
    throw new Error(`${name} is no regular plural. Add the name of one item: --singular <name>`)
  for (const each of [name, one])
    if (!NAME.test(each) || /--|-$|-\d/.test(each))
      throw new Error(
        `${each} is no name of a resource: use 2 to 41 lower-case letters, digits and single hyphens, such as book-loans.`,
      )
  if (name === one) throw new Error('The name of one item must differ from the name of the resource.')
  const [camel, camelOne] = [toCamel(name), toCamel(one)]
  return {
    kebab: name,
    camel,
    camelOne,
    pascal: capitalize(camel),
    pascalOne: capitalize(camelOne),
    snake: name.replaceAll('-', '_'),
    words: name.replaceAll('-', ' '),
    wordsOne: one.replaceAll('-', ' '),
  }
}

/** Text literals and comments of TypeScript. The template has no other texts. */
const TEXTS = /'[^'\n]*'|\/\/.*|\/\*[^]*?\*\//g

/**
 * Renames the sample resource `ideas` of the template in the code of a file. `hasProse` tells that people read each text
 * literal of the file.
 */
export function renameResource(code: string, names: ResourceNames, hasProse = false) {
  const { camel, camelOne, pascal, pascalOne, kebab, snake, words, wordsOne } = names
  const inCode = (text: string) =>
    text
      .replace(/\bideas/g, camel)
      .replace(/\bidea/g, camelOne)
      .replace(/Ideas/g, pascal)
      .replace(/Idea/g, pascalOne)
  const inWords = (text: string) =>
    text
      .replace(/\bideas\b/g, words)
      .replace(/\bidea\b/g, wordsOne)
      .replace(/\bIdeas\b/g, capitalize(words))
      .replace(/\bIdea\b/g, capitalize(wordsOne))
  const inText = (text: string, before: string) => {
    if (/^'\.{0,2}\//.test(text)) return text.replaceAll('ideas', kebab)
    if (/(pgTable\(|\.as\(|\.prepare\()\s*$/.test(before)) return text.replace('ideas', snake)
    return hasProse || text.includes(' ') || before.endsWith('contents: [') ? inWords(text) : inCode(text)
  }
  let end = 0
  const parts: string[] = []
  for (const { 0: text, index } of code.matchAll(TEXTS)) {
    parts.push(inCode(code.slice(end, index)), inText(text, code.slice(0, index)))
    end = index + text.length
  }
  return [...parts, inCode(code.slice(end))].join('')
}

/** Returns the names in the code of a file, without its texts and members, which a new resource must not have. */
export const identifiersIn = (code: string) =>
  code.replace(TEXTS, '').match(/(?<![.\w$])[A-Za-z_$][\w$]*/g) ?? []
