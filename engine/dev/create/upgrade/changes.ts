import { isSample, renderTemplate, type Texts } from '../template.ts'
import { mergeTexts } from './git.ts'
import type { TemplateRecord } from './record.ts'

/** A change of the template that a project does not have. Undefined: no such file. */
export interface Change {
  file: string
  before: string | undefined
  after: string | undefined
  conflicts: number
}

interface Pending {
  changes: Change[]
  /** Changed files of the template that the project has deleted. */
  deleted: string[]
}

type Read = (file: string) => string | undefined

/** Returns what a project would get from a newer template, by a merge of each file with the file of the project. */
export function findChanges({ choices, files }: TemplateRecord, template: Texts, read: Read): Pending {
  const base = renderTemplate(files, choices)
  const next = renderTemplate(template, choices)
  const changes: Change[] = []
  const deleted: string[] = []
  for (const file of new Set([...base.keys(), ...next.keys()])) {
    // manifest.ts merges package.json, and an upgrade changes no migrations.
    if (file === 'package.json' || file.startsWith('db/migrations/')) continue
    const current = read(file)
    const [before, after] = [base.get(file), next.get(file)].map((text) => withLineEndsOf(current, text))
    if (before === after || current === after) continue
    if (current === undefined) {
      if (before === undefined) changes.push({ file, before: undefined, after, conflicts: 0 })
      else deleted.push(file)
    } else if (after === undefined) {
      // The file is the project's own if the project has changed the file.
      if (current === before) changes.push({ file, before: current, after, conflicts: 0 })
    } else {
      const { merged, conflicts } = mergeTexts({ current, base: before ?? '', next: after })
      if (merged !== current) changes.push({ file, before: current, after: merged, conflicts })
    }
  }
  return { changes, deleted }
}

/** Changes of the sample resource that a project has no more: resources from `tallystick add` have the same form. */
export function findSampleChanges({ choices, files }: TemplateRecord, template: Texts, read: Read): Change[] {
  const complete = { ...choices, bare: undefined }
  const base = renderTemplate(files, complete)
  return [...renderTemplate(template, complete)].flatMap(([file, after]) => {
    const before = base.get(file)
    const isChanged = isSample(file) && before !== undefined && before !== after
    return isChanged && !file.includes('/migrations/') && read(file) === undefined
      ? [{ file, before, after, conflicts: 0 }]
      : []
  })
}

/** Some projects have Windows line ends. */
const withLineEndsOf = (current: string | undefined, text: string | undefined) =>
  current?.includes('\r\n') ? text?.replaceAll('\n', '\r\n') : text
