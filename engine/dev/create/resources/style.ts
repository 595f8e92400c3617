import { importsOf, type Syntax } from './syntax.ts'

/** How a file is formatted, for new lines that look like the lines of the file. */
export interface Style {
  lineEnd: string
  quote: string
  semicolon: string
  /** One level of indentation. */
  indentation: string
  /** Maximum length of a line. */
  width: number
}

/** The default of Prettier. */
const WIDTH = 80

/** Derives the format from the imports and the lines of a file. */
export function styleOf(syntax: Syntax): Style {
  const { code } = syntax
  const [first] = importsOf(syntax)
  const lines = code.split(/\r?\n/)
  return {
    lineEnd: code.includes('\r\n') ? '\r\n' : '\n',
    quote: first && code.charAt(first.source.start) === '"' ? '"' : "'",
    semicolon: first && code.charAt(first.end - 1) === ';' ? ';' : '',
    indentation: lines.map((line) => /^(\t| +)(?=[^\s*])/.exec(line)?.[1] ?? '').find((each) => each) ?? '  ',
    width: Math.max(WIDTH, ...lines.map(({ length }) => length)),
  }
}

/** Writes a text literal of the template, in single quotes, with the quotes of the file. */
export const withQuotes = (text: string, { quote }: Style) => text.replaceAll("'", quote)
