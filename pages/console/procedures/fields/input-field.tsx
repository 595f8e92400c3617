import { useId } from 'react'

import { Marked } from '../../code/marked.tsx'
import { ChoiceList } from './choice-list.tsx'
import type { IdOption } from './id-options.ts'
import type { Issue } from '../input.ts'
import type { Field } from '../schema.ts'
import { boundsOf, hasBounds, shapeOf } from '../schema-fields.ts'
import { BoundTexts } from '../schema-table.tsx'
import { useTexts } from '../texts.ts'

interface Props {
  field: Field
  value: string | null | undefined
  issues: readonly Issue[]
  /** Undefined omits the field. */
  onChange: (value: string | null | undefined) => void
  /** The ids that the field can hold, which `onFocus` loads. */
  options: readonly IdOption[]
  onFocus: () => void
}

/** A labelled field of an input, with its rule, its description and its issues. */
export function InputField({ field, value, issues, onChange, options, onFocus }: Props) {
  const id = useId()
  const { t } = useTexts()
  const { name, isRequired, isNullable, description, kind } = field
  const isChoice = kind === 'boolean' || kind === 'choice'
  const Label = kind === 'choices' ? 'span' : 'label'
  return (
    <div className="field">
      <div className="row">
        <Label id={`${id}-label`} {...(kind !== 'choices' && { htmlFor: id })}>
          {name}
          {isRequired && (
            <span className="required" title={t('required')}>
              {' '}
              *<span className="hidden"> {t('required')}</span>
            </span>
          )}
        </Label>
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
      <Control
        id={id}
        field={field}
        value={value}
        isInvalid={issues.length > 0}
        onChange={onChange}
        options={options}
        onFocus={onFocus}
      />
      <small id={`${id}-hint`} className="hint">
        <Rule field={field} />
        <Marked text={description} />
      </small>
      <small id={`${id}-issues`} role="status" className="issue">
        {issues.map(({ path, message }) => (path === name ? message : `${path}: ${message}`)).join(' ')}
      </small>
    </div>
  )
}

/** The type and the bounds of a field, as in the table of the schema. A choice shows its values already. */
function Rule({ field: { kind, schema } }: Pick<Props, 'field'>) {
  const isChoice = kind === 'boolean' || kind === 'choice' || kind === 'choices'
  const bounds = boundsOf(schema)
  if (isChoice && !hasBounds({ bounds })) return null
  return (
    <span className="rule">
      {!isChoice && <code>{shapeOf(schema)}</code>} <BoundTexts bounds={bounds} />
    </span>
  )
}

interface ControlProps extends Omit<Props, 'issues'> {
  id: string
  isInvalid: boolean
}

function Control({ id, field, value, isInvalid, onChange, options, onFocus }: ControlProps) {
  const { kind, isRequired, isNullable, isLong, choices } = field
  const { t } = useTexts()
  const attributes = {
    id,
    'aria-describedby': `${id}-hint ${id}-issues`,
    'aria-invalid': isInvalid || undefined,
    'aria-required': isRequired || undefined,
  }
  if (kind === 'choices')
    return <ChoiceList {...attributes} choices={choices} value={value ?? ''} onChange={onChange} />
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
    <>
      <input
        {...text}
        type="text"
        inputMode={kind === 'number' ? 'decimal' : undefined}
        placeholder={kind === 'time' ? '2026-01-31T10:00:00Z' : undefined}
        list={options.length > 0 ? `${id}-options` : undefined}
        onFocus={onFocus}
        onChange={({ target }) => {
          onChange(target.value || undefined)
        }}
      />
      {options.length > 0 && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option.id} value={option.id}>
              {option.text}
            </option>
          ))}
        </datalist>
      )}
    </>
  )
}
