import { htmlEscape } from 'escape-goat'

import type { Translator } from '../texts/translation.ts'
import { colors } from './tokens.ts'

/** The content of an e-mail. Its HTML part and its plain text contain the same texts in the same order. */
interface MailContent {
  /** The name of the application. */
  name: string
  paragraphs: readonly string[]
  /** Follows the first paragraph: on the same line in plain text, large in HTML. */
  code?: string
  /** A button in HTML, and the address in plain text. */
  link?: { label: string; url: string } | undefined
  /** What to do with an unwanted e-mail. */
  advice?: string | undefined
}

interface Element {
  style: string
  /** The colors by CSS property. */
  colors: Record<string, keyof typeof colors>
}

/** Inline styles, because some mail programs ignore style sheets. */
const elements = {
  body: { style: 'margin:0;padding:24px 16px', colors: { 'background-color': 'page' } },
  name: {
    style: 'margin:0 0 12px;padding:0 4px;font-size:18px;font-weight:600',
    colors: { color: 'accent' },
  },
  card: {
    style: 'padding:24px;border:1px solid;border-radius:12px',
    colors: { 'background-color': 'surface', 'border-color': 'line', color: 'text' },
  },
  code: {
    // The indent is the space that `letter-spacing` adds after the last digit, so that the code is in the center.
    style:
      'margin:16px 0;padding:16px 8px;border-radius:8px;font:600 40px/1.2 ui-monospace,Menlo,Consolas,monospace;' +
      'letter-spacing:0.15em;text-indent:0.15em;text-align:center;-webkit-user-select:all;user-select:all',
    colors: { 'background-color': 'page', color: 'text' },
  },
  link: {
    style:
      'display:inline-block;margin:16px 0 0;padding:10px 20px;border-radius:8px;font-weight:600;text-decoration:none',
    colors: { 'background-color': 'fill', color: 'on-fill' },
  },
  advice: { style: 'margin:16px 0 0;font-size:14px', colors: { color: 'muted' } },
} satisfies Record<string, Element>

const declarations = (element: Element, theme: 0 | 1, priority = '') =>
  Object.entries(element.colors)
    .map(([property, color]) => `${property}:${colors[color][theme]}${priority}`)
    .join(';')

const attributes = (name: keyof typeof elements) =>
  `class="${name}" style="${elements[name].style};${declarations(elements[name], 0)}"`

/** The dark colors of the elements in some HTML. `!important`, because the light colors are inline styles. */
const darkStyleOf = (html: string) =>
  Object.entries(elements)
    .filter(([name]) => html.includes(`class="${name}"`))
    .map(([name, element]) => `.${name}{${declarations(element, 1, '!important')}}`)
    .join('\n')

const codeHtml = (code: MailContent['code']) =>
  code === undefined ? '' : `<p ${attributes('code')}\ndir="ltr">${htmlEscape(code)}</p>\n`

const linkHtml = (link: MailContent['link']) =>
  link === undefined
    ? ''
    : `<p style="margin:0"><a ${attributes('link')}\nhref="${htmlEscape(link.url)}">${htmlEscape(link.label)}</a></p>\n`

const adviceHtml = (advice: MailContent['advice']) =>
  advice === undefined ? '' : `<p ${attributes('advice')}>\n${htmlEscape(advice)}</p>\n`

/** Renders the two parts of an e-mail. The HTML loads nothing. */
export function renderMail(
  { language, direction }: Pick<Translator, 'language' | 'direction'>,
  { name, paragraphs: [intro = '', ...paragraphs], code, link, advice }: MailContent,
) {
  // Gmail removes the attributes of `html`, so `div` repeats the language. The line with the code is short, because
  // quoted-printable encoding splits long lines. Without `format-detection`, iOS shows the code as a telephone number.
  const body = `<body ${attributes('body')}>
<div lang="${language}" dir="${direction}"
style="max-width:480px;margin:0 auto;font:16px/1.5 system-ui,Segoe UI,Arial,sans-serif;overflow-wrap:anywhere">
<p ${attributes('name')}>
<bdi>${htmlEscape(name)}</bdi></p>
<div ${attributes('card')}>
<p style="margin:0">${htmlEscape(intro)}</p>
${codeHtml(code)}${paragraphs.map((text) => `<p style="margin:16px 0 0">${htmlEscape(text)}</p>\n`).join('')}${linkHtml(link)}${adviceHtml(advice)}</div>
</div>
</body>`
  return {
    text: [
      name,
      code === undefined ? intro : `${intro} ${code}`,
      ...paragraphs,
      ...(link ? [`${link.label}: ${link.url}`] : []),
      ...(advice === undefined ? [] : [advice]),
    ].join('\n\n'),
    html: `<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<style>
:root{color-scheme:light dark}
@media (prefers-color-scheme: dark){
${darkStyleOf(body)}
}
</style>
</head>
${body}
</html>
`,
  }
}
