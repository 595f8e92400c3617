import MagicString from 'magic-string'

import { type Style, styleOf, withQuotes } from './style.ts'
import { findList, importsOf, type Item, itemsOf, type List, nameOf, parse, type Syntax } from './syntax.ts'

/** What a resource adds to a file that lists the resources. The code has single quotes. */
export interface Edits {
  imports: readonly { names: readonly string[]; from: string }[]
  /**
   * The new entries of objects and arrays, each list by its path: `app.resources`. The entries follow the last entry, or
   * precede the spread `before`.
   */
  entries: readonly { list: string; codes: readonly string[]; before?: string }[]
}

export interface Editor extends Syntax {
  text: MagicString
  style: Style
}

/** Adds imports and entries to a file, and leaves all other code as it is. Returns undefined if a list is not in the file. */
export function addTo(file: string, code: string, { imports, entries }: Edits): string | undefined {
  const editor = editorOf(file, code)
  if (!editor) return undefined
  for (const added of imports) if (!addImport(editor, added)) return undefined
  for (const { list, codes, before } of entries) {
    const found = findList(editor, list)
    if (!found) return undefined
    addEntries(
      editor,
      found,
      codes.map((each) => withQuotes(each, editor.style)),
      before,
    )
  }
  const changed = editor.text.toString()
  return parse(file, changed) && changed
}

export function editorOf(file: string, code: string): Editor | undefined {
  const syntax = parse(file, code)
  return syntax && { ...syntax, text: new MagicString(code), style: styleOf(syntax) }
}

export const lineStart = (code: string, position: number) => code.lastIndexOf('\n', position - 1) + 1

/** Returns the position before the line break after a position. */
function nextLineBreak(code: string, position: number) {
  const found = code.slice(position).search(/\r?\n/)
  return found === -1 ? code.length : position + found
}

const indentationAt = (code: string, position: number) =>
  /^[ \t]*/.exec(code.slice(lineStart(code, position)))?.[0] ?? ''

/** Returns the end of the line, after comments that begin on the line. */
export function endOfLine({ code, comments }: Syntax, position: number): number {
  const end = nextLineBreak(code, position)
  const open = comments.find(
    (comment) => comment.start >= position && comment.start < end && comment.end > end,
  )
  return open ? endOfLine({ code, comments } as Syntax, open.end) : end
}

function addImport(editor: Editor, { names, from }: Edits['imports'][number]) {
  const { text, style } = editor
  const last = importsOf(editor).at(-1)
  if (!last) return false
  const { lineEnd, indentation, semicolon, width } = style
  const source = `from ${withQuotes(`'${from}'`, style)}${semicolon}`
  const line = `import { ${names.join(', ')} } ${source}`
  const lines = ['import {', ...names.map((name) => `${indentation}${name},`), `} ${source}`]
  // Relative imports follow the imports of packages after an empty line.
  const gap = last.source.value.startsWith('.') ? lineEnd : `${lineEnd}${lineEnd}`
  text.appendLeft(endOfLine(editor, last.end), gap + (line.length > width ? lines.join(lineEnd) : line))
  return true
}

/** Returns the position of the comma after an entry. Undefined if there is none. */
export function commaAfter({ code, comments }: Syntax, list: List, item: Item) {
  for (let position = item.end; position < list.end; position++) {
    const comment = comments.find(({ start, end }) => start <= position && position < end)
    if (comment) position = comment.end - 1
    else if (code[position] === ',') return position
    else if (!/\s/.test(code[position] ?? '')) return undefined
  }
  return undefined
}

function addEntries(editor: Editor, list: List, codes: readonly string[], before?: string) {
  const { code, text, style } = editor
  const items = itemsOf(list)
  const [first] = items
  if (!first) {
    addToEmpty(editor, list, codes)
    return
  }
  const next = before === undefined ? -1 : items.findIndex((item) => nameOf(item) === before)
  const previous = next === -1 ? items.at(-1) : items[next - 1]
  const isExpanded = code.slice(list.start, first.start).includes('\n')
  if (!isExpanded && addToLine(editor, list, codes, previous)) return
  if (!isExpanded) {
    expand(editor, list, codes, previous)
    return
  }
  const gap = `${style.lineEnd}${indentationAt(code, first.start)}`
  if (!previous) {
    text.appendLeft(endOfLine(editor, list.start + 1), codes.map((each) => `${gap}${each},`).join(''))
    return
  }
  const comma = commaAfter(editor, list, previous)
  if (comma === undefined) text.appendLeft(previous.end, ',')
  const after = comma === undefined ? previous.end : comma + 1
  // After a comment at the end of the line, unless another entry is on the same line.
  const end = endOfLine(editor, after)
  const limit = items[items.indexOf(previous) + 1]?.start ?? list.end
  const added = codes.map((each) => `${gap}${each}`).join(',')
  text.appendLeft(end > limit ? after : end, added + (comma === undefined ? '' : ','))
}

/** Adds entries to `{}`, `[]`, or a list that has only comments. */
function addToEmpty({ code, text, style }: Editor, list: List, codes: readonly string[]) {
  const indentation = indentationAt(code, list.start)
  const [open, close] = [list.start + 1, list.end - 1]
  const inner = code.slice(open, close)
  if (list.type === 'ArrayExpression' && !inner.includes('\n')) {
    text.appendLeft(close, codes.join(', '))
    return
  }
  const gap = `${style.lineEnd}${indentation}`
  const lines = codes.map((each) => `${gap}${style.indentation}${each},`).join('')
  if (inner.trim() === '')
    text.update(list.start, list.end, code.charAt(list.start) + lines + gap + code.charAt(close))
  else text.appendLeft(open + inner.trimEnd().length, lines)
}

/** Adds entries to a list on one line. Returns false if the line would become too long. */
function addToLine(editor: Editor, list: List, codes: readonly string[], previous: Item | undefined) {
  const { code, comments, text, style } = editor
  const added = codes.join(', ')
  const line = code.slice(lineStart(code, list.start), nextLineBreak(code, list.start))
  const isLong = line.length + added.length + 2 > style.width
  const hasComment = comments.some(({ start }) => start > list.start && start < list.end)
  // `expand` writes only objects, and would lose comments.
  if (isLong && list.type === 'ObjectExpression' && !hasComment) return false
  if (!previous) text.appendLeft(itemsOf(list)[0]?.start ?? list.end - 1, `${added}, `)
  else text.appendLeft(previous.end, `, ${added}`)
  return true
}

/** Writes each entry of a list to a line of its own. */
function expand(
  { code, text, style }: Editor,
  list: List,
  codes: readonly string[],
  previous: Item | undefined,
) {
  const items = itemsOf(list)
  const own = items.map((item) => code.slice(item.start, item.end))
  own.splice(previous ? items.indexOf(previous) + 1 : 0, 0, ...codes)
  const gap = `${style.lineEnd}${indentationAt(code, list.start)}`
  const lines = own.map((each) => `${gap}${style.indentation}${each},`).join('')
  text.update(list.start, list.end, `{${lines}${gap}}`)
}
