import { useId } from 'react'

import { Marked } from '../code/marked.tsx'
import type { Issue } from './input.ts'
import type { Field } from './schema.ts'
import { useTexts } from './texts.ts'

interface Props {
  field: Field
  value: string | null | undefined
  issues: readonly Issue[]
  /** Undefined omits the field. */
  onChange: (value: string | null | undefined) => void
}

/** A labelled field of an input, with its rule, its description and its issues. */
export function InputField({ field, value, issues, onChange }: Props) {
  const id = useId()
  const { t } = useTexts()
  const { name, isRequired, isNullable, description, rule, kind } = field
  const isChoice = kind === 'boolean' || kind === 'choice'
  return (
    <div className="field">
      <div className="row">
        <label htmlFor={id}>
          {name}
          {isRequired && (
            <span className="required" title={t('required')}>
              {' '}
              *<span className="hidden"> {t('required')}</span>
            </span>
          )}
        </label>
        {isNullable && !isChoice && (
          <label className="null">
            <input
              type="checkbox"
              checked={value === null}
              onChange={({ target }) => {
                onChange(target.checked ? null : undefined)
              }}
            />
            null<span className="hidden"> {t('asValueOf', { name })}</span>
          </label>
        )}
        {kind === 'time' && (
          <button
            type="button"
            className="secondary small"
            onClick={() => {
              onChange(new Date().toISOString())
            }}
          >
            {t('now')}
            <span className="hidden"> {t('asValueOf', { name })}</span>
          </button>
        )}
      </div>
      <Control id={id} field={field} value={value} isInvalid={issues.length > 0} onChange={onChange} />
      <small id={`${id}-hint`} className="hint">
        <Marked text={[rule, description].filter(Boolean).join('. ')} />
      </small>
      <small id={`${id}-issues`} role="status" className="issue">
        {issues.map(({ path, message }) => (path === name ? message : `${path}: ${message}`)).join(' ')}
      </small>
    </div>
  )
}

interface ControlProps extends Pick<Props, 'field' | 'value' | 'onChange'> {
  id: string
  isInvalid: boolean
}

function Control({ id, field, value, isInvalid, onChange }: ControlProps) {
  const { kind, isRequired, isNullable, isLong, choices } = field
  const { t } = useTexts()
  const attributes = {
    id,
    'aria-describedby': `${id}-hint ${id}-issues`,
    'aria-invalid': isInvalid || undefined,
    'aria-required': isRequired || undefined,
  }
  if (kind === 'boolean' || kind === 'choice') {
    const values: readonly unknown[] = kind === 'boolean' ? [true, false] : choices
    return (
      <select
        {...attributes}
        value={value === null ? 'null' : (value ?? '')}
        onChange={({ target }) => {
          onChange(target.value === 'null' && isNullable ? null : target.value || undefined)
        }}
      >
        <option value="">{t(isRequired ? 'selectValue' : 'omitted')}</option>
        {isNullable && <option value="null">null</option>}
        {values.map((each) => (
          <option key={String(each)} value={JSON.stringify(each)}>
            {String(each)}
          </option>
        ))}
      </select>
    )
  }
  const text = {
    ...attributes,
    value: value ?? '',
    disabled: value === null,
    spellCheck: false,
    autoComplete: 'off',
  }
  if (kind === 'json' || isLong)
    return (
      <textarea
        {...text}
        className={kind === 'json' ? 'json' : undefined}
        rows={2}
        onChange={({ target }) => {
          onChange(target.value || undefined)
        }}
      />
    )
  return (
    <input
      {...text}
      type="text"
      inputMode={kind === 'number' ? 'decimal' : undefined}
      onChange={({ target }) => {
        onChange(target.value || undefined)
      }}
    />
  )
}
