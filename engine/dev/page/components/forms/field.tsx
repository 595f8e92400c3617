import { type ChangeEvent, type InputHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react'

import { useLanguage } from '../../language.tsx'
import { breaksBound, type FieldRules, ruleOf } from './bounds.ts'

type Control = HTMLInputElement | HTMLTextAreaElement

interface Own extends FieldRules {
  /** Shows the label inside of the empty field. */
  isCompact?: boolean
  value: string
  onValue: (value: string) => void
  /** The reason why the service refused the value. */
  error?: string | undefined
  /** The attributes `lang` and `dir` of the error. */
  languageOfError?: { lang: string; dir: string } | undefined
}

type Props<Attributes> = Own & Omit<Attributes, keyof Own>

/** A labelled input, with its error below. A value that breaks a bound has an error while the person types. */
export function Field({
  label,
  isCompact,
  value,
  onValue,
  error,
  languageOfError,
  maxLength,
  ...attributes
}: Props<InputHTMLAttributes<HTMLInputElement>>) {
  const { type, min, max } = attributes
  const rules = { label, type, maxLength, min, max }
  const { control, message } = useControl({ ...rules, value, onValue, error, languageOfError })
  return (
    <label>
      <span className={isCompact ? 'hidden' : undefined}>{label}</span>
      <input placeholder={isCompact ? label : undefined} {...attributes} {...control} />
      {message}
    </label>
  )
}

/** A labelled field for several lines. */
export function TextField({
  label,
  isCompact,
  value,
  onValue,
  error,
  languageOfError,
  maxLength,
  ...attributes
}: Props<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const { control, message } = useControl({ label, maxLength, value, onValue, error, languageOfError })
  return (
    <label>
      <span className={isCompact ? 'hidden' : undefined}>{label}</span>
      <textarea placeholder={isCompact ? label : undefined} {...attributes} {...control} />
      {message}
    </label>
  )
}

/** Returns the attributes of a control, and the message about its error. */
function useControl({ value, onValue, error, languageOfError, ...rules }: Own) {
  const errorId = useId()
  const language = useLanguage()
  const broken = breaksBound(rules, value) ? ruleOf(rules, language) : undefined
  const shown = error ?? broken
  return {
    control: {
      value,
      // The browser submits no form with a broken bound.
      ref: (element: Control | null) => {
        element?.setCustomValidity(broken ?? '')
      },
      onChange: ({ target }: ChangeEvent<Control>) => {
        onValue(target.value)
      },
      ...(shown && { 'aria-invalid': true, 'aria-describedby': errorId }),
    },
    message: shown && (
      <small id={errorId} {...(error && languageOfError)}>
        {shown}
      </small>
    ),
  }
}
