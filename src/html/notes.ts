import { htmlEscape } from 'escape-goat'

/**
 * Replaces each carriage return with a character reference, because a carriage return would end the line of a
 * server-sent event. The browser converts the reference back to a carriage return.
 *
 * The button sends no signals (`payload`): in a DELETE request, Datastar appends signals to the URL, where a long draft
 * would exceed the limit of the URL and appear in logs of proxies.
 */
const item = ({ id, text }: { id: number; text: string }) =>
  htmlEscape`<li id="note-${id}">${text} <button type="button" aria-label="Delete note ${id}" data-on:click="@delete('/api/notes/${id}', {payload: {}})">Delete</button></li>`.replaceAll(
    '\r',
    '&#13;',
  )

export const notesHtml = (notes: { id: number; text: string }[]) =>
  notes.map(item).join('\n') || '<li id="no-notes">No notes yet</li>'
