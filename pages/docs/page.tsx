import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import type { ReferenceDocument } from '../../engine/openapi/procedure-description.ts'
import { ProcedureList } from '../console/procedures/procedure-list.tsx'
import { ProcedureTextsContext } from '../console/procedures/texts.ts'
import { addressOf, useOperation } from './address.ts'
import { documentQuery } from './document.ts'
import { Header } from './header.tsx'
import { Introduction } from './introduction.tsx'
import { Procedure } from './procedure.tsx'
import { useReferenceTexts } from './texts.ts'

/** The reference of all procedures, for everybody. */
export function ReferencePage() {
  const texts = useReferenceTexts()
  const { data, error, refetch } = useQuery(documentQuery)
  return (
    <ProcedureTextsContext value={texts}>
      {data ? (
        <Reference document={data} />
      ) : (
        <main>
          {error ? (
            <div role="alert" className="problem">
              <p>{texts.t('loadFailed')}</p>
              <button type="button" onClick={() => void refetch()}>
                {texts.t('retry')}
              </button>
            </div>
          ) : (
            <p role="status">{texts.t('loading')}</p>
          )}
        </main>
      )}
    </ProcedureTextsContext>
  )
}

/** The address of the introduction on narrow screens, which otherwise show the list. */
const INTRODUCTION = 'introduction'

function Reference({ document: content }: { document: ReferenceDocument }) {
  const { info, procedures } = content
  const { t } = useReferenceTexts()
  const operation = useOperation(procedures)
  const selected = procedures.find((each) => each.operation === operation)
  const detail = useShownDetail(operation)
  const title = [selected?.operation, info.title, t('reference')].filter(Boolean).join(' – ')

  useEffect(() => {
    document.title = title
  }, [title])

  const isIntroduction = operation === '' || operation === INTRODUCTION
  return (
    <>
      <Header name={info.title} />
      <main id="content" tabIndex={-1}>
        <div className={operation ? 'split has-detail' : 'split'}>
          <ProcedureList procedures={procedures} operation={operation} addressOf={addressOf}>
            <ul>
              <li>
                <a href={addressOf(INTRODUCTION)} aria-current={isIntroduction ? 'true' : undefined}>
                  {t('introduction')}
                </a>
              </li>
            </ul>
          </ProcedureList>
          <div className="detail" ref={detail} tabIndex={-1}>
            {operation && (
              <a className="back" href="#">
                <span aria-hidden="true">←</span> {t('allProcedures')}
              </a>
            )}
            {isIntroduction && <Introduction document={content} />}
            {selected && <Procedure key={operation} origin={info.contact.url} procedure={selected} />}
            {!isIntroduction && !selected && (
              <section>
                <p>{t('unknownProcedure', { operation })}</p>
              </section>
            )}
          </div>
        </div>
      </main>
    </>
  )
}

/** Moves the focus and the scroll position to the returned element when the operation changes. */
function useShownDetail(operation: string) {
  const detail = useRef<HTMLDivElement>(null)
  const previous = useRef(operation)
  useEffect(() => {
    if (previous.current === operation) return
    previous.current = operation
    detail.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [operation])
  return detail
}
