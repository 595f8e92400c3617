interface Props<Value extends string | number> {
  label: string
  /** Shows the label only to screen readers. */
  isCompact?: boolean
  value: Value
  /** Each value with its text. */
  options: readonly (readonly [Value, string])[]
  onChoice: (value: Value) => void
}

/** A labelled list of values. */
export function Choice<Value extends string | number>({
  label,
  isCompact = false,
  value,
  options,
  onChoice,
}: Props<Value>) {
  return (
    <label>
      {!isCompact && label}
      <select
        aria-label={isCompact ? label : undefined}
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
