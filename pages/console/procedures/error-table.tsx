import { Fragment, type ReactNode } from 'react'

import { useTexts } from './texts.ts'

interface Props {
  /** Each error once. `text`: the message, and what is shown below. */
  errors: readonly { code: string; status: number; text: ReactNode }[]
}

/** Errors with their codes, statuses and messages. */
export function ErrorTable({ errors }: Props) {
  const { t } = useTexts()
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={t('errors')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('errorCode')}</th>
            <th scope="col">{t('errorStatus')}</th>
            <th scope="col">{t('errorMessage')}</th>
          </tr>
        </thead>
        <tbody>
          {errors.map(({ code, status, text }) => (
            <tr key={code}>
              <th scope="row">
                <code>
                  {code.split('_').map((word, index) => (
                    <Fragment key={index}>
                      {index > 0 && (
                        <>
                          _<wbr />
                        </>
                      )}
                      {word}
                    </Fragment>
                  ))}
                </code>
              </th>
              <td>{status}</td>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
