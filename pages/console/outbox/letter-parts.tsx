import { Fragment, useState } from 'react'

import type { LetterParts as Parts } from '../../../engine/console/contract.ts'
import { Code } from '../code/copy.tsx'
import { Segments } from '../procedures/segments.tsx'

interface Props extends Parts {
  subject: string
  /** The address of the HTML. */
  html: string
}

/** The parts of an e-mail, one at a time. The frame of the HTML has no scripts, and no images from elsewhere. */
export function LetterParts({ subject, html, text, headers }: Props) {
  const [part, setPart] = useState<'html' | 'text' | 'headers'>('html')
  const options = { html: 'HTML', text: 'Text', ...(headers.length > 0 && { headers: 'Headers' }) }
  return (
    <>
      <Segments legend="Part of the e-mail" options={options} value={part} onChange={setPart} />
      {part === 'html' && <iframe sandbox="" src={html} title={subject} />}
      {part === 'text' &&
        (text === null ? (
          <p className="muted">The e-mail has no plain text.</p>
        ) : (
          <Code text={text} name="the text" />
        ))}
      {part === 'headers' && (
        <dl className="facts">
          {headers.map(([name, value], index) => (
            <Fragment key={index}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
        </dl>
      )}
    </>
  )
}
