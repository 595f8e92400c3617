import { type InputHTMLAttributes, useId } from 'react'

interface Props extends InputHTMLAttributes<HTMLInputElement> {
  label: string
  onValue: (value: string) => void
  /** The reason why the service refused the value. */
  error?: string | undefined
  /** The attributes `lang` and `dir` of the error. */
  languageOfError?: { lang: string; dir: string }
}

/** A labelled input, with its error below. */
export function Field({ label, onValue, error, languageOfError, ...attributes }: Props) {
  const errorId = useId()
  return (
    <label>
      {label}
      <input
        {...attributes}
        {...(error && { 'aria-invalid': true, 'aria-describedby': errorId })}
        onChange={({ target }) => {
          onValue(target.value)
        }}
      />
      {error && (
        <small id={errorId} {...languageOfError}>
          {error}
        </small>
      )}
    </label>
  )
}
