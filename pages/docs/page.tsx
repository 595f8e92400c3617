import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

import type { ReferenceDocument } from '../../engine/openapi/procedure-description.ts'
import { findSimilarNames } from '../../engine/values/similar-names.ts'
import { ProcedureList } from '../console/procedures/procedure-list.tsx'
import { ProcedureTextsContext } from '../console/procedures/texts.ts'
import { addressOf, INTRODUCTION, useAddress } from './address.ts'
import { documentQuery } from './document.ts'
import { Header } from './header.tsx'
import { Introduction, IntroductionLinks } from './introduction.tsx'
import { Procedure } from './procedure.tsx'
import { WithSignIn } from './sign-in-dialog.tsx'
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

function Reference({ document: content }: { document: ReferenceDocument }) {
  const { info, procedures } = content
  const { t } = useReferenceTexts()
  const { name, procedure, isIntroduction, section } = useAddress(procedures)
  const detail = useShownDetail(name, section)
  const [isListOpen, setListOpen] = useState(false)
  const title = [procedure?.operation, info.title, t('reference')].filter(Boolean).join(' – ')

  useEffect(() => {
    document.title = title
  }, [title])

  const closeList = () => {
    setListOpen(false)
    detail.current?.focus({ preventScroll: true })
  }
  return (
    <WithSignIn>
      <Header name={info.title} />
      <main>
        <div className={isListOpen ? 'split has-list' : 'split'}>
          <button
            type="button"
            className="secondary list-button"
            aria-expanded={isListOpen}
            onClick={() => {
              setListOpen(!isListOpen)
            }}
          >
            {t('allProcedures')}
          </button>
          <ProcedureList
            procedures={procedures}
            operation={procedure?.operation ?? ''}
            addressOf={addressOf}
            onSearch={() => {
              // The search can have the focus only while the list is shown.
              flushSync(() => {
                setListOpen(true)
              })
            }}
            onChoose={closeList}
          >
            {(search) => (
              <IntroductionLinks
                document={content}
                search={search}
                isCurrent={isIntroduction}
                onChoose={closeList}
              />
            )}
          </ProcedureList>
          {/* The link that skips to the content also skips the list. */}
          <div id="content" className="detail" ref={detail} tabIndex={-1}>
            {isIntroduction && <Introduction document={content} />}
            {procedure && (
              <Procedure key={procedure.operation} origin={info.contact.url} procedure={procedure} />
            )}
            {!isIntroduction && !procedure && <Unknown name={name} procedures={procedures} />}
          </div>
        </div>
      </main>
    </WithSignIn>
  )
}

/** Number of names that the page proposes. */
const PROPOSED = 3

/** An address that is no procedure: the procedures of the resource, or those with similar names. */
function Unknown({ name, procedures }: { name: string } & Pick<ReferenceDocument, 'procedures'>) {
  const { t } = useReferenceTexts()
  const operations = procedures.map(({ operation }) => operation)
  const ofResource = operations.filter((operation) => operation.startsWith(`${name}.`))
  const similar = findSimilarNames(name, operations).slice(0, PROPOSED)
  return (
    <section>
      {ofResource.length > 0 ? <h2>{name}</h2> : <p>{t('unknownProcedure', { operation: name })}</p>}
      <ul className="similar">
        {(ofResource.length > 0 ? ofResource : similar).map((operation) => (
          <li key={operation}>
            <a href={addressOf(operation)}>
              <bdi>{operation}</bdi>
            </a>
          </li>
        ))}
        <li>
          <a href={addressOf(INTRODUCTION)}>{t('introduction')}</a>
        </li>
      </ul>
    </section>
  )
}

/** Moves the focus and the scroll position to the returned element, or to a section in it, when the address changes. */
function useShownDetail(name: string, section: string) {
  const detail = useRef<HTMLDivElement>(null)
  const previous = useRef('')
  useEffect(() => {
    const isChange = previous.current !== '' && previous.current !== `${name}/${section}`
    previous.current = `${name}/${section}`
    if (isChange) detail.current?.focus({ preventScroll: true })
    if (section) document.getElementById(section)?.scrollIntoView()
    else if (isChange) scrollTo(0, 0)
  }, [name, section])
  return detail
}
