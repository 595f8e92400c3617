import { MAX_TEXT } from '../../engine/console/bounds.ts'

interface Props {
  label: string
  value: string
  onChange: (value: string) => void
}

/** A labelled field for a short text. */
export const TextField = ({ label, value, onChange }: Props) => (
  <label>
    {label}
    <input
      type="text"
      maxLength={MAX_TEXT}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={({ target }) => {
        onChange(target.value)
      }}
    />
  </label>
)
