import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ESTree } from 'vite'

import { type ResourceNames, toResourceNames } from './resource-names.ts'
import {
  findConstant,
  findList,
  findProperty,
  importsOf,
  itemsOf,
  listIn,
  nameOf,
  parse,
  type Syntax,
} from './syntax.ts'

/** A resource whose rows can have rows within. */
export interface Parent {
  names: ResourceNames
  /** Whether its rows say what a person may do, as `can: { EDIT_PROJECT }`. */
  hasCan: boolean
  /** The outermost parent: whether its rows have members, and with which roles. */
  root: { isShared: boolean; roles: readonly string[] }
}

/** Rows with an owner, rows with an owner and members, or rows within a parent. */
export type Kind = { type: 'own' | 'shared' } | { type: 'within'; parent: Parent }

type Declared = { names: ResourceNames } & (
  { type: 'own' } | { type: 'shared'; roles: readonly string[] } | { type: 'within'; of: string }
)

const toKebab = (camel: string) => camel.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Returns the call of a function with a name. */
const callOf = (node: ESTree.Node | undefined, name: string) =>
  node?.type === 'CallExpression' && identifierOf(node.callee) === name ? node : undefined

const identifierOf = (node: ESTree.Node | null | undefined) =>
  node?.type === 'Identifier' ? node.name : undefined

/** Reads `export const ideaRows = rows(ideas, …)` in the file of a resource. Undefined if the file has another form. */
function readRows(folder: string, kebab: string): Declared | undefined {
  const file = join(folder, `db/${kebab}.ts`)
  const syntax = existsSync(file) ? parse(file, readFileSync(file, 'utf8')) : undefined
  // A resource with the name `rows` imports the function by another name.
  const [, one, callee = ''] = /export const (\w+)Rows = (rows|engineRows)\(/.exec(syntax?.code ?? '') ?? []
  if (!syntax || one === undefined || toKebab(one) === kebab) return undefined
  const names = toResourceNames(kebab, toKebab(one))
  const call = callOf(findConstant(syntax, `${one}Rows`), callee)
  if (identifierOf(call?.arguments[0]) !== names.camel) return undefined
  const visible = findProperty(listIn(call), 'visible')
  if (visible === undefined || callOf(visible, 'owned')) return { names, type: 'own' }
  const shared = callOf(visible, 'shared')
  if (shared) return { names, type: 'shared', roles: rolesOf(syntax, shared) }
  const of = sourceOf(syntax, identifierOf(callOf(visible, 'within')?.arguments[0]))
  return of === undefined ? undefined : { names, type: 'within', of }
}

/** Returns the roles of the members: `role: text({ enum: ['editor', 'viewer'] })` of their table. */
function rolesOf(syntax: Syntax, shared: ESTree.CallExpression): string[] {
  const members = identifierOf(findProperty(listIn(shared), 'members'))
  const table = members === undefined ? undefined : findConstant(syntax, members)
  let column: ESTree.Node | undefined = findProperty(listIn(table), 'role')
  while (column?.type === 'CallExpression' && column.callee.type === 'MemberExpression')
    column = column.callee.object
  const roles = listIn(findProperty(listIn(column), 'enum'))
  return roles ? itemsOf(roles).flatMap((item) => nameOf(item) ?? []) : []
}

/** Returns the resource whose file exports a name that a file imports: `books` for `./books.ts`. */
const sourceOf = (syntax: Syntax, name: string | undefined) =>
  importsOf(syntax)
    .filter(({ specifiers }) => specifiers.some(({ local }) => local.name === name))
    .map(({ source }) => /^\.\/([\w-]+)\.ts$/.exec(source.value)?.[1])[0]

/** Returns the outermost parent. */
function rootOf(folder: string, declared: Declared): Exclude<Declared, { type: 'within' }> | undefined {
  if (declared.type !== 'within') return declared
  const outer = readRows(folder, declared.of)
  return outer && rootOf(folder, outer)
}

const hasExport = (code: string, name: string) =>
  new RegExp(`export (const ${name}\\b|\\{[^}]*\\b${name}\\b)`).test(code)

/** Returns a resource as a parent, or the reason why it cannot be one. */
function readParent(folder: string, kebab: string): Parent | string {
  const declared = readRows(folder, kebab)
  const root = declared && rootOf(folder, declared)
  if (!root)
    return `db/${kebab}.ts exports no rows of a known form, such as ${kebab}Rows = rows(${kebab}, { … })`
  const isShared = root.type === 'shared'
  const roles = isShared ? root.roles : []
  if (isShared && roles.length < 2)
    return `db/${root.names.kebab}.ts has no table of members with the column role: text({ enum: ['editor', 'viewer'] }), or two other roles`
  const cases = join(folder, `test/cases/${kebab}.ts`)
  const code = existsSync(cases) ? readFileSync(cases, 'utf8') : ''
  if (!hasExport(code, 'cases')) return `test/cases/${kebab}.ts exports no cases`
  if (isShared && !hasExport(code, 'share'))
    return `test/cases/${kebab}.ts exports no function share, as \`tallystick add --shared\` writes it`
  const { names } = declared
  const contract = join(folder, `contract/${kebab}.ts`)
  const can = `EDIT_${names.snakeOne.toUpperCase()}: z.boolean()`
  const hasCan = existsSync(contract) && readFileSync(contract, 'utf8').includes(can)
  return { names, hasCan, root: { isShared, roles } }
}

function listResources(folder: string) {
  const file = join(folder, 'contract/index.ts')
  const syntax = parse(file, readFileSync(file, 'utf8'))
  const list = syntax && findList(syntax, 'contract')
  return list
    ? itemsOf(list)
        .flatMap((item) => nameOf(item) ?? [])
        .map(toKebab)
    : []
}

/** Finds the parent with a name. Throws if there is none, or if its rows can have no rows within. */
export function findParent(folder: string, name: string): Parent {
  const resources = listResources(folder)
  const parent = resources.includes(name) ? readParent(folder, name) : 'there is no such resource'
  if (typeof parent !== 'string') return parent
  const possible = resources.filter((each) => typeof readParent(folder, each) !== 'string')
  throw new Error(
    `${name} cannot be the parent: ${parent}. Possible parents: ${possible.join(', ') || 'none; add one with `tallystick add`'}`,
  )
}

/** Returns the kind of a resource of a project. A resource with an unknown form is like one that `add` writes without options. */
export function kindOf(folder: string, name: string): Kind {
  const declared = readRows(folder, name)
  if (declared?.type !== 'within') return { type: declared?.type ?? 'own' }
  const parent = readParent(folder, declared.of)
  return typeof parent === 'string' ? { type: 'own' } : { type: 'within', parent }
}
