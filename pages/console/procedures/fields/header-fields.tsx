import { useState } from 'react'

import type { ProcedureDescription } from '../../../../engine/openapi/procedure-description.ts'
import { type Draft, type DraftState, lastTagOf } from '../drafts.ts'
import { TextField } from '../../text-field.tsx'
import { useTexts } from '../texts.ts'

interface Props {
  procedure: ProcedureDescription
  draft: Draft
  change: DraftState['change']
}

/** The optional headers of a call. The console opens streams without further headers. */
export function HeaderFields({ procedure: { headers, resource, isStream }, draft, change }: Props) {
  const lastTag = lastTagOf(resource)
  const { t } = useTexts()
  const [isOpen] = useState(Boolean(draft.idempotencyKey || draft.ifMatch || draft.acceptLanguage))
  if (isStream) return null
  return (
    <details className="headers" open={isOpen}>
      <summary>{t('headers')}</summary>
      {headers.includes('Idempotency-Key') && (
        <div className="row end">
          <TextField
            label="Idempotency-Key"
            value={draft.idempotencyKey}
            onChange={(idempotencyKey) => {
              change({ idempotencyKey })
            }}
          />
          <button
            type="button"
            className="secondary"
            onClick={() => {
              change({ idempotencyKey: crypto.randomUUID() })
            }}
          >
            {t('newKey')}
          </button>
        </div>
      )}
      {headers.includes('If-Match') && (
        <div className="row end">
          <TextField
            label="If-Match"
            value={draft.ifMatch}
            onChange={(ifMatch) => {
              change({ ifMatch })
            }}
          />
          {lastTag && (
            <button
              type="button"
              className="secondary"
              onClick={() => {
                change({ ifMatch: lastTag })
              }}
            >
              {t('lastTag')}
            </button>
          )}
        </div>
      )}
      <div className="row">
        <TextField
          label="Accept-Language"
          value={draft.acceptLanguage}
          onChange={(acceptLanguage) => {
            change({ acceptLanguage })
          }}
        />
      </div>
    </details>
  )
}
