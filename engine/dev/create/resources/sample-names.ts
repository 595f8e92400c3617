import { capitalize, type ResourceNames, toResourceNames } from './resource-names.ts'

/** The names of a sample, and the names that replace them. */
export type Renaming = readonly [sample: ResourceNames, names: ResourceNames]

/** The samples: of the template, and those in samples/. */
export const samples = {
  ideas: toResourceNames('ideas', 'idea'),
  gardens: toResourceNames('gardens', 'garden'),
  plants: toResourceNames('plants', 'plant'),
}

export const isOfSample = (name: string) => /idea|garden|plant/i.test(name)

/** Replaces all forms of names at once, so that no form is replaced in a new name. */
function replaceForms(text: string, forms: ReadonlyMap<string, string>, pattern: (form: string) => string) {
  const longestFirst = [...forms.keys()].sort((a, b) => b.length - a.length)
  const all = new RegExp(longestFirst.map(pattern).join('|'), 'g')
  return text.replace(all, (form) => forms.get(form) ?? form)
}

type Form = (names: ResourceNames) => readonly string[]

const formsOf = (renamings: readonly Renaming[], form: Form) =>
  new Map(
    renamings.flatMap(([sample, names]) =>
      form(sample).map((each, index) => [each, form(names)[index] ?? each] as const),
    ),
  )

const codeForms: Form = ({ camel, camelOne, pascal, pascalOne, snake, snakeOne }) => [
  ...[camel, camelOne, pascal, pascalOne],
  ...[snake.toUpperCase(), snakeOne.toUpperCase()],
]

const wordForms: Form = ({ words, wordsOne }) => [
  ...[words, wordsOne, capitalize(words), capitalize(wordsOne)],
  ...[`a ${wordsOne}`, `A ${wordsOne}`].map((text) =>
    /^[aeiou]/.test(wordsOne) ? text.replace(' ', 'n ') : text,
  ),
]

/** Renames in code: `ideaRows`, `NewIdea`, `LIST_IDEAS`. */
const inCode = (text: string, renamings: readonly Renaming[]) =>
  replaceForms(text, formsOf(renamings, codeForms), (form) => (/^[a-z]/.test(form) ? `\\b${form}` : form))

const inWords = (text: string, renamings: readonly Renaming[]) =>
  replaceForms(text, formsOf(renamings, wordForms), (form) => `\\b${form}\\b`)

/** Renames in a name of the database, or in statements. */
export const inDatabase = (text: string, renamings: readonly Renaming[]) =>
  replaceForms(
    text,
    formsOf(renamings, ({ snake, snakeOne }) => [snake, snakeOne]),
    (form) => form,
  )

/** Renames in a path: `./ideas.ts`, `/api/ideas/{ideaId}`. */
export function inPath(path: string, renamings: readonly Renaming[]) {
  const kebab = (text: string) =>
    replaceForms(
      text,
      formsOf(renamings, (names) => [names.kebab]),
      (form) => form,
    )
  return path
    .split(/(\{\w+\})/)
    .map((part, index) => (index % 2 ? inCode(part, renamings) : kebab(part)))
    .join('')
}

/** Text literals and comments of TypeScript. The samples have no other texts. */
const TEXTS = /'[^'\n]*'|\/\/.*|\/\*[^]*?\*\//g

/** Renames in a text literal or a comment, by the kind of the text. `before` is the code before the text. */
function inText(text: string, before: string, renamings: readonly Renaming[]) {
  const start = /^'\/[\w-]+(?='|\/\{)/.exec(text)?.[0]
  const pathOfView = renamings.find(([sample]) => start === `'${sample.path}`)?.[1].path
  if (start !== undefined && pathOfView !== undefined)
    return `'${pathOfView}${inPath(text.slice(start.length), renamings)}`
  const isPath = /^'\.{0,2}\//.test(text)
  if (isPath) return inPath(text, renamings)
  const isNameInDatabase = /(pgTable\(|\.as\(|\.prepare\()\s*$/.test(before)
  if (isNameInDatabase) return inDatabase(text, renamings)
  const isOperation = renamings.some(([{ camel }]) => text.startsWith(`'${camel}.`))
  // The id of a schema (`id: 'Idea'`) looks like a title, but is a name in code.
  const isTitle = /^'[A-Z][a-z]+'$/.test(text) && !/\bid: $/.test(before)
  const isProse = text.includes(' ') && !isOperation
  const isContentsOfExport = before.endsWith('contents: [')
  return isProse || isTitle || isContentsOfExport ? inWords(text, renamings) : inCode(text, renamings)
}

export function renameSamples(code: string, renamings: readonly Renaming[]) {
  let end = 0
  const parts: string[] = []
  for (const { 0: text, index } of code.matchAll(TEXTS)) {
    parts.push(inCode(code.slice(end, index), renamings), inText(text, code.slice(0, index), renamings))
    end = index + text.length
  }
  return [...parts, inCode(code.slice(end), renamings)].join('')
}

/** Returns the identifiers of the samples in the code of a file, with the new names. */
export const identifiersOfSample = (code: string, renamings: readonly Renaming[]) =>
  new Set(
    (code.replace(TEXTS, '').match(/[A-Za-z_$][\w$]*/g) ?? [])
      .filter(isOfSample)
      .map((word) => renameSamples(word, renamings)),
  )
