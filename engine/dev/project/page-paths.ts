import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ESTree } from 'vite'

import {
  findConstant,
  findProperty,
  importsOf,
  itemsOf,
  listIn,
  parse,
  type Syntax,
} from '../create/resources/syntax.ts'
import { accountPaths } from '../page/paths.ts'

// Reads the paths of the views from the sources: the page itself runs only in browsers.

const PAGE = 'tallystick-dev/page'
const ACCOUNT_VIEWS = 'accountViews'

interface Source extends Syntax {
  file: string
}

function readSource(file: string): Source {
  const syntax = existsSync(file) ? parse(file, readFileSync(file, 'utf8')) : undefined
  if (!syntax) throw new Error(`${file} is missing, or has mistakes.`)
  return { ...syntax, file }
}

const unknownForm = ({ file, code }: Source, { start }: ESTree.Node) => {
  const line = code.slice(0, start).split('\n').length
  return new Error(
    `${file}:${String(line)}: the build does not find the path of this view. Declare the view with view({ path: '/…' }), the path as a text literal.`,
  )
}

/** Returns the paths of the views in a constant of a file. */
export function readPaths(file: string, name = 'views'): string[] {
  const source = readSource(file)
  const views = findConstant(source, name)
  if (!views) throw new Error(`${file} has no constant \`${name}\` with the views of the page.`)
  return pathsIn(source, views)
}

/** Returns the paths of a view, or of a list of views. Follows names to their declarations, also in other files. */
function pathsIn(source: Source, expression: ESTree.Node): string[] {
  if (expression.type === 'Identifier') return pathsOfName(source, expression)
  const list = listIn(expression)
  if (list?.type === 'ArrayExpression')
    return itemsOf(list).flatMap((item) =>
      pathsIn(source, item.type === 'SpreadElement' ? item.argument : item),
    )
  const path = findProperty(list, 'path')
  if (path?.type !== 'Literal' || typeof path.value !== 'string') throw unknownForm(source, expression)
  return [path.value]
}

/** Returns the paths of the view, or of the list of views, with a name. */
function pathsOfName(source: Source, identifier: ESTree.Node & { name: string }): string[] {
  const { name } = identifier
  const own = findConstant(source, name)
  if (own) return pathsIn(source, own)
  for (const { source: from, specifiers } of importsOf(source))
    for (const specifier of specifiers) {
      if (specifier.type !== 'ImportSpecifier' || specifier.local.name !== name) continue
      const imported = specifier.imported.type === 'Literal' ? '' : specifier.imported.name
      if (from.value === PAGE && imported === ACCOUNT_VIEWS) return [...accountPaths]
      if (!from.value.startsWith('.')) break
      const other = readSource(join(dirname(source.file), from.value))
      const value = findConstant(other, imported)
      if (value) return pathsIn(other, value)
    }
  throw unknownForm(source, identifier)
}
