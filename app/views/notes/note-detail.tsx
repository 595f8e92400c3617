import { Link } from 'wouter'

import { useLanguage } from '../../language.ts'
import type { Note } from './note.ts'
import { NoteMeta } from './note-meta.tsx'

/** The whole note, beside the list on wide screens. On narrow screens, the list shows the whole note instead. */
export function NoteDetail({ note }: { note: Note }) {
  const { t } = useLanguage()
  return (
    <section aria-labelledby="open-note-title" className="detail">
      <h2 id="open-note-title">
        <bdi>{note.title}</bdi>
      </h2>
      <NoteMeta note={note} />
      <p className="text" dir="auto">
        {note.body}
      </p>
      <p>
        <Link href="/notes">{t('close')}</Link>
      </p>
    </section>
  )
}
