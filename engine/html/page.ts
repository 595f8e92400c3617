import { htmlEscape } from 'escape-goat'
import { createHash } from 'node:crypto'

import type { Message } from '../texts/engine-texts.ts'
import type { Translator, Values, Writer } from '../texts/translation.ts'
import type { PageTranslator } from './page-translator.ts'
import { tokens } from './tokens.ts'

// The first button of a form is filled: this is the button that the Enter key presses. But no page recommends a refusal.
const style = `
${tokens}:root { color-scheme: light dark; font: 1rem/1.5 'Inter Variable', Inter, system-ui, sans-serif }
* { box-sizing: border-box }
body {
  background: var(--page); color: var(--text); margin: 0 auto; max-width: 30rem; overflow-wrap: anywhere;
  padding: var(--space-6) var(--space-4)
}
header { color: var(--muted); font-weight: 600; margin-block-end: var(--space-3); padding-inline: var(--space-1) }
main { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: var(--space-6) var(--space-5) }
h1 { font-size: var(--text-title); line-height: 1.3; margin: 0 0 var(--space-4) }
label, dt { color: var(--muted); display: block; margin-block-start: var(--space-4) }
input {
  background: var(--surface); border: 1px solid var(--control); border-radius: var(--radius); color: inherit; font: inherit;
  direction: ltr; margin-block-start: var(--space-2); min-height: 2.75rem; padding: var(--space-2) var(--space-3); width: 100%
}
dd { margin: 0 }
bdi { font-weight: 600 }
.details { color: var(--muted); font-size: .9em }
.details bdi { font-weight: inherit }
button {
  background: none; border: 1px solid var(--control); border-radius: var(--radius); color: inherit; cursor: pointer;
  font: inherit; font-weight: 500; margin-block-start: var(--space-4); margin-inline-end: var(--space-2);
  min-height: 2.75rem; min-width: 6rem; padding: var(--space-1) var(--space-4)
}
button:first-of-type:not([value=deny]), [value=allow] { background: var(--fill); border-color: var(--fill); color: var(--on-fill) }
a { color: var(--accent) }
:focus-visible { outline: var(--focus); outline-offset: 2px }
.caution, .problem { border-inline-start: .3rem solid var(--muted); padding-inline-start: .8rem }
.problem { border-color: var(--danger); color: var(--danger) }
`
const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * The Content-Security-Policy of a page. `redirectTarget` is an additional permitted target of the form, because the
 * form on the consent page redirects to the app.
 */
export const contentSecurityPolicy = (redirectTarget = '') =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self' ${redirectTarget}; base-uri 'none'; frame-ancestors 'none'`

/** `bdi` isolates the direction of a value, so that the value cannot reorder the text around it. */
const htmlWriter: Writer = {
  text: (text) => htmlEscape(text),
  value: (value) => htmlEscape`<bdi>${value}</bdi>`,
}

/** Does for text what `bdi` does for HTML, by the characters FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE. */
const textWriter: Writer = { text: (text) => text, value: (value) => `\u2068${value}\u2069` }

/** A message of the catalogues with its values. */
export type MessageWithValues = [message: Message, values?: Values]

/** Translates a message to HTML. The text and its values are escaped. */
export const toHtml = ({ translate }: Translator, ...[message, values]: MessageWithValues) =>
  translate(message, values, htmlWriter)

/** Creates a page. `body` is HTML. */
export const page = (translator: PageTranslator, title: MessageWithValues, body: string) =>
  frame(translator, {
    title: `${translator.translate(...withWriter(title))} · ${translator.appName}`,
    header: translator.appName,
    main: `<h1>${toHtml(translator, ...title)}</h1>\n${body}`,
  })

interface Parts {
  title: string
  header: string
  /** HTML. */
  main: string
}

/** Creates the HTML document of a page. */
export const frame = (
  { language, direction }: Pick<Translator, 'language' | 'direction'>,
  { title, header, main }: Parts,
) =>
  htmlEscape`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>` +
  style +
  htmlEscape`</style>
</head>
<body>
<header>${header}</header>
` +
  `<main>
${main}</main>
</body>
</html>
`

/** The title of a document is text, not HTML. */
const withWriter = ([message, values]: MessageWithValues) => [message, values, textWriter] as const
