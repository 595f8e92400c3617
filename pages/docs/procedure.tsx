import { useState } from 'react'

import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'
import { useDraft } from '../console/procedures/drafts.ts'
import { About, Reference } from '../console/procedures/reference.tsx'
import { SameCall } from '../console/procedures/same-call.tsx'
import { addressOf } from './address.ts'
import { useReferenceTexts } from './texts.ts'
import { Trial } from './trial.tsx'
import { Watch } from './watch.tsx'

interface Props {
  /** The origin of the service. */
  origin: string
  procedure: ProcedureDescription
}

/** The width from which the form is beside the contract, as in main.css. */
const WIDE = '(min-width: 75rem)'

/** A procedure: facts, an example for several clients, a form that is open on wide screens, and the contract. */
export function Procedure({ origin, procedure }: Props) {
  const { t } = useReferenceTexts()
  const state = useDraft(procedure)
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches)
  const Try = procedure.isStream ? Watch : Trial
  return (
    <article className="procedure">
      <About procedure={procedure} />
      <div className="trial">
        <SameCall
          title={t('example')}
          origin={origin}
          procedure={procedure}
          state={state}
          isSignedIn={procedure.access !== 'public'}
        />
        {isOpen ? (
          <Try procedure={procedure} state={state} />
        ) : (
          <button
            type="button"
            className="try"
            onClick={() => {
              setOpen(true)
            }}
          >
            {t('tryIt')}
          </button>
        )}
      </div>
      <Reference
        procedure={procedure}
        addressOf={(section) => `${addressOf(procedure.operation)}/${section}`}
      />
    </article>
  )
}
