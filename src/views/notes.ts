import { htmlEscape } from 'escape-goat'

/**
 * Replaces each carriage return with a character reference, because a carriage return would end the line of a
 * server-sent event. The browser converts the reference back to a carriage return.
 */
const item = ({ id, text }: { id: number; text: string }) =>
  htmlEscape`<li id="note-${id}">${text}</li>`.replaceAll('\r', '&#13;')

export const notesHtml = (notes: { id: number; text: string }[]) =>
  notes.map(item).join('\n') || '<li id="no-notes">No notes yet</li>'
