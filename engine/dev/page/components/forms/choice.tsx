interface Props<Value extends string | number> {
  label: string
  value: Value
  /** Each value with its text. */
  options: readonly (readonly [Value, string])[]
  onChoice: (value: Value) => void
}

/** A labelled list of values. */
export function Choice<Value extends string | number>({ label, value, options, onChoice }: Props<Value>) {
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ target }) => {
          onChoice(options[target.selectedIndex]?.[0] ?? value)
        }}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
