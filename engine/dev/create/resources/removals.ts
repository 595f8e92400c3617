import { commaAfter, type Editor, type Edits, editorOf, endOfLine, lineStart } from './edits.ts'
import { identifiersIn } from './identifiers.ts'
import { findList, importsOf, type Item, itemsOf, type List, nameOf, parse } from './syntax.ts'

/**
 * Removes imports and entries from a file, and leaves all other code as it is. Returns undefined if a list is not in the
 * file, or if other code of the file uses the imports.
 */
export function removeFrom(file: string, code: string, { imports, entries }: Edits): string | undefined {
  const editor = editorOf(file, code)
  if (!editor) return undefined
  for (const { list, codes } of entries) {
    const found = findList(editor, list)
    if (!found) return undefined
    const names = codes.map((each) => /^(?:['"]|\.{3})?([\w$]+)/.exec(each)?.[1])
    for (const item of itemsOf(found))
      if (names.includes(nameOf(item)?.replace('...', ''))) removeItem(editor, found, item)
  }
  for (const statement of importsOf(editor))
    if (imports.some(({ from }) => statement.source.value === from)) removeImport(editor, statement)
  const changed = editor.text.toString()
  const syntax = parse(file, changed)
  const removed = imports.flatMap(({ names }) => names.map((name) => name.replace(/.* as /, '')))
  return syntax && !identifiersIn(syntax).some(({ name }) => removed.includes(name)) ? changed : undefined
}

const nextLine = (code: string, position: number) => {
  const end = code.indexOf('\n', position)
  return end === -1 ? code.length : end + 1
}

const isBlank = (text: string) => text.trim() === ''

function removeImport(editor: Editor, { start, end }: { start: number; end: number }) {
  const { code, text } = editor
  const [first, next] = [lineStart(code, start), nextLine(code, endOfLine(editor, end))]
  // The import of a file was the only one after an empty line.
  const before = first === 0 ? 0 : lineStart(code, first - 1)
  const isAlone = isBlank(code.slice(before, first)) && isBlank(code.slice(next, nextLine(code, next)))
  text.remove(isAlone ? before : first, next)
}

function removeItem(editor: Editor, list: List, item: Item) {
  const { code, comments, text } = editor
  const items = itemsOf(list)
  const index = items.indexOf(item)
  const [previous, next] = [items[index - 1], items[index + 1]]
  const hasComment = comments.some(({ start }) => start > list.start && start < list.end)
  if (items.length === 1 && !hasComment) {
    text.update(list.start + 1, list.end - 1, '')
    return
  }
  const comma = commaAfter(editor, list, item)
  const first = lineStart(code, item.start)
  const last = endOfLine(editor, comma === undefined ? item.end : comma + 1)
  if (isBlank(code.slice(first, item.start)) && last <= (next?.start ?? list.end - 1)) {
    // Removed with the last entry: otherwise the list would get a comma at its end, which it did not have.
    const orphan = comma === undefined && previous ? commaAfter(editor, list, previous) : undefined
    if (orphan !== undefined) text.remove(orphan, orphan + 1)
    text.remove(first, nextLine(code, last))
  } else if (next) text.remove(item.start, next.start)
  else text.remove(previous?.end ?? item.start, item.end)
}
