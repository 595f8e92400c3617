import { useSyncExternalStore } from 'react'

import type { Position } from './position.ts'

interface Editor {
  label: string
  /** Returns the URL that opens a place. The browser asks before it starts the editor. */
  urlOf: (position: Position) => string
}

/** Writes the path of a file as the path of a URL. */
const pathOf = (file: string) =>
  encodeURI(file.replaceAll('\\', '/').replace(/^(?!\/)/, '/')).replace(/[?#]/g, encodeURIComponent)

const withScheme = (scheme: string) => (position: Position) =>
  `${scheme}://file${pathOf(position.file)}:${position.line}:${position.column}`

/** The editors by their names in the storage of the browser. */
const editors = {
  vscode: { label: 'VS Code', urlOf: withScheme('vscode') },
  vscodium: { label: 'VSCodium', urlOf: withScheme('vscodium') },
  cursor: { label: 'Cursor', urlOf: withScheme('cursor') },
  windsurf: { label: 'Windsurf', urlOf: withScheme('windsurf') },
  zed: { label: 'Zed', urlOf: withScheme('zed') },
  idea: {
    label: 'JetBrains',
    urlOf: ({ file, line, column }) =>
      `idea://open?${String(new URLSearchParams({ file, line: String(line), column: String(column) }))}`,
  },
} satisfies Record<string, Editor>
type EditorName = keyof typeof editors

const isEditor = (name: string): name is EditorName => Object.hasOwn(editors, name)

const KEY = 'console.editor'
const listeners = new Set<() => void>()

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

function readEditor(): EditorName {
  const name = localStorage.getItem(KEY) ?? ''
  return isEditor(name) ? name : 'vscode'
}

/** A place in a source, with a link that opens the editor. */
export function SourceLink({ position }: { position: Position }) {
  const editor = useSyncExternalStore(subscribe, readEditor)
  const { file, line, column } = position
  return (
    <a href={editors[editor].urlOf(position)}>
      {file}:{line}:{column}
    </a>
  )
}

/** Selects the editor of all links. */
export function EditorSelect() {
  const editor = useSyncExternalStore(subscribe, readEditor)
  return (
    <select
      className="editor"
      aria-label="Editor"
      value={editor}
      onChange={({ target }) => {
        localStorage.setItem(KEY, target.value)
        for (const listener of listeners) listener()
      }}
    >
      {Object.entries(editors).map(([name, { label }]) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </select>
  )
}
