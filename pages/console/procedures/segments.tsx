import { useId } from 'react'

interface Props<Value extends string> {
  legend: string
  /** The labels by value. */
  options: Readonly<Partial<Record<Value, string>>>
  value: Value
  onChange: (value: Value) => void
  /** The values that cannot be chosen now. */
  disabled?: readonly Value[]
}

/** A choice of few values, shown as buttons beside each other. The arrow keys select, as in every group of radio buttons. */
export function Segments<Value extends string>({
  legend,
  options,
  value,
  onChange,
  disabled = [],
}: Props<Value>) {
  const name = useId()
  const isValue = (key: string): key is Value => Object.hasOwn(options, key)
  return (
    <fieldset className="segments">
      <legend className="hidden">{legend}</legend>
      {Object.keys(options)
        .filter(isValue)
        .map((each) => (
          <label key={each}>
            <input
              type="radio"
              name={name}
              checked={each === value}
              disabled={disabled.includes(each)}
              onChange={() => {
                onChange(each)
              }}
            />
            <span>{options[each]}</span>
          </label>
        ))}
    </fieldset>
  )
}
