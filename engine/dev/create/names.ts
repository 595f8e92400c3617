import { htmlEscape } from 'escape-goat'
import { isBlank, isId, toId } from 'tallystick-contract/internal'

/** Maximum length of the name of a project, in code points. */
const MAX_NAME = 60

/** The names of a new project. */
export interface Names {
  /** The name on pages and in e-mails. */
  name: string
  /** The name in package.json, cookies and URIs. */
  id: string
}

/** The names in the template. `createProject` replaces these names. */
export const templateNames: Names = { name: 'Example App', id: 'example-app' }

/** An id begins with a letter, so a name that begins with a digit gets a word before it: `app-2048`. */
const toProjectId = (name: string) => toId(name).replace(/^(?=\d)/, 'app-')

/** Returns the names of a project. The id comes from the name, or from the folder if the name has no letter or digit. */
export function toNames(folderName: string, name = folderName): Names {
  if (isBlank(name)) throw new Error('The name of the project must not be blank.')
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Surrogate}]/u.test(name))
    throw new Error('The name of the project must not contain line breaks, control characters or surrogates.')
  if (Array.from(name).length > MAX_NAME)
    throw new Error(`The name of the project must have at most ${MAX_NAME} characters.`)
  const id = [toId(name), toId(folderName), toProjectId(name), toProjectId(folderName)].find(isId)
  if (id === undefined || id.length > MAX_NAME)
    throw new Error(
      `The name of the project, or of its folder, must have a letter from A to Z or a digit, and at most ${MAX_NAME} characters.`,
    )
  return { name, id }
}

const escapeTypeScript = (text: string) => text.replace(/[\\'`$]/g, '\\$&')
const escapeMarkdown = (text: string) => text.replace(/[\\`*_{}[\]<>#&|~!$]/g, '\\$&')
const escapeJson = (text: string) => JSON.stringify(text).slice(1, -1)

const escapes: Record<string, (text: string) => string> = {
  html: (text) => htmlEscape(text),
  json: escapeJson,
  md: escapeMarkdown,
  ts: escapeTypeScript,
  tsx: escapeTypeScript,
}

/** Replaces the names of the template in a file, escaped for the kind of the file. */
export function replaceNames(file: string, content: string, { name, id }: Names) {
  const escape = escapes[/\w+$/.exec(file)?.[0] ?? '']
  if (!escape) return content
  // A function, because `$` in a replacement has a meaning.
  return content.replaceAll(templateNames.name, () => escape(name)).replaceAll(templateNames.id, () => id)
}
