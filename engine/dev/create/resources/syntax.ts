import { type ESTree, type ParseResult, parseSync } from 'vite'

/** The syntax tree of a file. The parser belongs to Vite, which every project has. */
export interface Syntax {
  code: string
  program: ESTree.Program
  comments: ParseResult['comments']
}

/** An object or an array in the code of a file. */
export type List = ESTree.ObjectExpression | ESTree.ArrayExpression
/** An entry of an object or an array. */
export type Item = ESTree.ObjectPropertyKind | ESTree.SpreadElement | ESTree.Expression

/** Parses a file. Returns undefined if the syntax has mistakes. The name tells the parser whether the file can have JSX. */
export function parse(file: string, code: string): Syntax | undefined {
  const { program, comments, errors } = parseSync(file, code)
  return errors.length > 0 ? undefined : { code, program, comments }
}

/** Returns the imports at the start of the file. */
export const importsOf = ({ program }: Syntax) =>
  program.body.filter((statement) => statement.type === 'ImportDeclaration')

/** Returns the first object or array in an expression: the argument of a call, or the value of a function or a type check. */
export function listIn(expression: ESTree.Node | null | undefined): List | undefined {
  switch (expression?.type) {
    case 'ObjectExpression':
    case 'ArrayExpression':
      return expression
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return listIn(expression.expression)
    case 'CallExpression':
      return expression.arguments.map(listIn).find((list) => list !== undefined)
    case 'ArrowFunctionExpression':
      return listIn(expression.body)
    case 'ConditionalExpression':
      return listIn(expression.consequent)
    default:
      return undefined
  }
}

/** Returns the values of the constants of a file by name, and its calls by the name of the function. */
function valuesOf({ program }: Syntax) {
  const values = new Map<string, ESTree.Expression>()
  for (const statement of program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declaration?.type === 'VariableDeclaration')
      for (const { id, init } of declaration.declarations)
        if (id.type === 'Identifier' && init) values.set(id.name, init)
    if (statement.type !== 'ExpressionStatement' || statement.expression.type !== 'CallExpression') continue
    const { callee } = statement.expression
    if (callee.type === 'Identifier') values.set(callee.name, statement.expression)
  }
  return values
}

export const findConstant = (syntax: Syntax, name: string) => valuesOf(syntax).get(name)

export function findProperty(list: List | undefined, name: string) {
  if (list?.type !== 'ObjectExpression') return undefined
  for (const property of list.properties)
    if (property.type === 'Property' && nameOf(property) === name) return property.value
  return undefined
}

/** Returns the list at a path: `app.resources` is the property in the argument of `const app = defineApp({ resources: {} })`. */
export function findList(syntax: Syntax, path: string): List | undefined {
  const [name = '', ...properties] = path.split('.')
  return properties.reduce<List | undefined>(
    (list, property) => listIn(findProperty(list, property)),
    listIn(findConstant(syntax, name)),
  )
}

export const itemsOf = (list: List): Item[] =>
  list.type === 'ObjectExpression' ? list.properties : list.elements.filter((item) => item !== null)

/** Returns the name of an entry: the key, the identifier, or `...name` of a spread. */
export function nameOf(item: Item): string | undefined {
  if (item.type === 'SpreadElement')
    return item.argument.type === 'Identifier' ? `...${item.argument.name}` : undefined
  const name = item.type === 'Property' ? item.key : item
  if (name.type === 'Identifier' || name.type === 'PrivateIdentifier') return name.name
  return name.type === 'Literal' && typeof name.value === 'string' ? name.value : undefined
}
