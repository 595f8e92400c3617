import type { ESTree } from 'vite'

import type { Syntax } from './syntax.ts'

/** A place of a variable, a function or a type in the code of a file. Names of members and attributes are none. */
export interface Identifier {
  name: string
  start: number
  end: number
  /** What another name needs in this place: `{ name: other }`, `{ name as other }`, or nothing else. */
  form: 'plain' | 'property' | 'specifier'
  isDeclared: boolean
  /** The module of an import. */
  from?: string | undefined
}

type Node = ESTree.Node

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** The fields of nodes that are names of members, attributes and labels. */
const MEMBERS: Readonly<Record<string, string>> = {
  ImportSpecifier: 'imported',
  ExportSpecifier: 'exported',
  JSXAttribute: 'name',
  JSXClosingElement: '',
  JSXMemberExpression: 'property',
  MetaProperty: 'meta property',
  TSQualifiedName: 'right',
  TSNamedTupleMember: 'label',
  LabeledStatement: 'label',
  BreakStatement: 'label',
  ContinueStatement: 'label',
}

/** The fields of nodes that declare names. */
const DECLARED: Readonly<Record<string, string>> = {
  VariableDeclarator: 'id',
  FunctionDeclaration: 'id params',
  FunctionExpression: 'id params',
  ArrowFunctionExpression: 'params',
  ClassDeclaration: 'id',
  ClassExpression: 'id',
  CatchClause: 'param',
  ImportSpecifier: 'local',
  ImportDefaultSpecifier: 'local',
  ImportNamespaceSpecifier: 'local',
  TSTypeAliasDeclaration: 'id',
  TSInterfaceDeclaration: 'id',
  TSTypeParameter: 'name',
}

/** The nodes of a pattern, whose names are declared if the pattern is: `{ id, ...others } = {}`. */
const PATTERNS: Readonly<Record<string, string>> = {
  ObjectPattern: 'properties',
  ArrayPattern: 'elements',
  AssignmentPattern: 'left',
  RestElement: 'argument',
  Property: 'value',
}

const has = (fields: Readonly<Record<string, string>>, { type }: Node, field: string) =>
  fields[type]?.split(' ').includes(field) ?? false

const isMember = (node: Node, field: string) =>
  has(MEMBERS, node, field) ||
  ((field === 'key' || (field === 'property' && node.type === 'MemberExpression')) &&
    !('computed' in node && node.computed))

interface Place {
  form: Identifier['form']
  isDeclared: boolean
  from?: string | undefined
}

/** Returns all identifiers of a file, in the order of the file. */
export function identifiersIn({ program }: Syntax): Identifier[] {
  const found: Identifier[] = []
  const visit = (node: Node, place: Place) => {
    if (node.type === 'Identifier' || (node.type === 'JSXIdentifier' && /^[A-Z]/.test(node.name))) {
      const { name, start } = node
      found.push({ name, start, end: start + name.length, ...place })
    }
    const from = node.type === 'ImportDeclaration' ? node.source.value : place.from
    for (const [field, value] of Object.entries(node)) {
      if (isMember(node, field)) continue
      const isDeclared = has(DECLARED, node, field) || (place.isDeclared && has(PATTERNS, node, field))
      const form = formOf(node, field, place.form)
      for (const child of [value].flat()) if (isNode(child)) visit(child, { form, isDeclared, from })
    }
  }
  visit(program, { form: 'plain', isDeclared: false })
  return found.sort((a, b) => a.start - b.start)
}

function formOf(node: Node, field: string, outer: Place['form']): Place['form'] {
  if (node.type === 'Property' && field === 'value' && node.shorthand) return 'property'
  // The default value of a property: `{ name = 1 }`.
  if (node.type === 'AssignmentPattern' && field === 'left') return outer
  if (node.type === 'ImportSpecifier' || node.type === 'ExportSpecifier') {
    const [other, own] =
      node.type === 'ImportSpecifier' ? [node.imported, node.local] : [node.exported, node.local]
    return other.start === own.start ? 'specifier' : 'plain'
  }
  return 'plain'
}
