import { htmlEscape } from 'escape-goat'

import type { Translator } from '../translation/index.ts'
import { colors } from './tokens.ts'

/** The content of an e-mail. Its HTML part and its plain text contain the same texts in the same order. */
interface MailContent {
  /** The name of the application. */
  name: string
  intro: string
  /** Follows the introduction: on the same line in plain text, large in HTML. */
  code: string
  paragraphs: string[]
  /** What to do with an unwanted e-mail. */
  advice: string
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
    style:
      'margin:16px 0;padding:16px 8px;border-radius:8px;font:600 40px/1.2 ui-monospace,Menlo,Consolas,monospace;' +
      'letter-spacing:0.15em;text-indent:0.15em;text-align:center;-webkit-user-select:all;user-select:all',
    colors: { 'background-color': 'page', color: 'text' },
  },
  advice: { style: 'margin:16px 0 0;font-size:14px', colors: { color: 'muted' } },
} satisfies Record<string, Element>

const declarations = (element: Element, theme: 0 | 1, priority = '') =>
  Object.entries(element.colors)
    .map(([property, color]) => `${property}:${colors[color][theme]}${priority}`)
    .join(';')

const attributes = (name: keyof typeof elements) =>
  `class="${name}" style="${elements[name].style};${declarations(elements[name], 0)}"`

const darkStyle = Object.entries(elements)
  .map(([name, element]) => `.${name}{${declarations(element, 1, '!important')}}`)
  .join('\n')

/** Renders the two parts of an e-mail. The HTML loads nothing and has no link. */
export const renderMail = (
  { language, direction }: Pick<Translator, 'language' | 'direction'>,
  { name, intro, code, paragraphs, advice }: MailContent,
) => ({
  text: [name, `${intro} ${code}`, ...paragraphs, advice].join('\n\n'),
  // Gmail removes the attributes of `html`, so `div` repeats the language. The line with the code is short, because
  // quoted-printable encoding splits long lines. Without `format-detection`, iOS shows the code as a telephone number.
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
${darkStyle}
}
</style>
</head>
<body ${attributes('body')}>
<div lang="${language}" dir="${direction}"
style="max-width:480px;margin:0 auto;font:16px/1.5 system-ui,Segoe UI,Arial,sans-serif;overflow-wrap:anywhere">
<p ${attributes('name')}>
<bdi>${htmlEscape(name)}</bdi></p>
<div ${attributes('card')}>
<p style="margin:0">${htmlEscape(intro)}</p>
<p ${attributes('code')}
dir="ltr">${htmlEscape(code)}</p>
${paragraphs.map((paragraph) => `<p style="margin:16px 0 0">${htmlEscape(paragraph)}</p>\n`).join('')}<p ${attributes('advice')}>
${htmlEscape(advice)}</p>
</div>
</div>
</body>
</html>
`,
})
