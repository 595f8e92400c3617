import { htmlEscape } from 'escape-goat'

/** A carriage return would break an event's line; as a reference it reaches the page as the character that it is. */
const item = ({ id, text }: { id: number; text: string }) =>
  htmlEscape`<li id="note-${id}">${text}</li>`.replaceAll('\r', '&#13;')

export const notesHtml = (notes: { id: number; text: string }[]) =>
  notes.map(item).join('\n') || '<li id="no-notes">No notes yet</li>'
