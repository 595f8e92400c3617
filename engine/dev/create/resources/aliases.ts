import MagicString from 'magic-string'

import { type Identifier, identifiersIn } from './identifiers.ts'
import { parse, type Syntax } from './syntax.ts'
import { isOfSample } from './sample-names.ts'

/** The start of the new name of an import, by the start of the name of its package. */
const PREFIXES: readonly [start: string, prefix: string][] = [
  ['tallystick', 'engine'],
  ['drizzle', 'drizzle'],
  ['vitest', 'vitest'],
  ['.', 'own'],
  ['', 'imported'],
]

/**
 * Gives other names to the identifiers of a file that have one of the names, so that a new resource can use the names:
 * `import { text as engineText }`. `blocked` are the names that are declared outside of the file, for example `Promise`.
 */
export function freeNames(file: string, code: string, names: ReadonlySet<string>) {
  const syntax = parse(file, code)
  if (!syntax) throw new Error(`The file ${file} of the template has mistakes.`)
  const identifiers = identifiersIn(syntax).filter(({ name }) => !isOfSample(name))
  const known = new Set(identifiers.map(({ name }) => name))
  const blocked: string[] = []
  const text = new MagicString(code)
  for (const name of [...known].filter((used) => names.has(used))) {
    const places = identifiers.filter((identifier) => identifier.name === name)
    const declaration = places.find(({ isDeclared }) => isDeclared)
    if (!declaration) blocked.push(name)
    else
      renameIn(
        text,
        places,
        aliasOf(declaration, (alias) => known.has(alias) || names.has(alias)),
      )
    if (declaration) keepExport(text, syntax, name, declaration)
  }
  return { code: text.toString(), blocked }
}

function aliasOf({ name, from }: Identifier, isTaken: (alias: string) => boolean) {
  const prefix =
    from === undefined ? 'local' : (PREFIXES.find(([start]) => from.startsWith(start))?.[1] ?? '')
  const capital = name.charAt(0).toUpperCase() + name.slice(1)
  let alias = prefix + capital
  if (/^[A-Z]/.test(name)) alias = alias.charAt(0).toUpperCase() + alias.slice(1)
  while (isTaken(alias)) alias += '_'
  return alias
}

function renameIn(text: MagicString, places: readonly Identifier[], alias: string) {
  for (const { name, start, end, form } of places)
    text.update(
      start,
      end,
      form === 'property' ? `${name}: ${alias}` : form === 'specifier' ? `${name} as ${alias}` : alias,
    )
}

/** Exports a constant by its former name, which other files import. */
function keepExport(text: MagicString, { program }: Syntax, name: string, { start, end }: Identifier) {
  const exported = program.body.find(
    (statement) =>
      statement.type === 'ExportNamedDeclaration' && statement.start < start && end < statement.end,
  )
  if (exported?.type !== 'ExportNamedDeclaration') return
  const { declaration } = exported
  const names =
    declaration?.type === 'VariableDeclaration' ? declaration.declarations.map(({ id }) => id.start) : []
  if (!declaration || !names.includes(start)) return
  text.remove(exported.start, declaration.start)
  text.append(`\nexport { ${text.slice(start, end)} as ${name} }\n`)
}
