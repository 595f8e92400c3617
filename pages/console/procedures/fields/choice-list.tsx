interface Props {
  id: string
  choices: readonly unknown[]
  /** The chosen values as JSON. Empty without a choice. */
  value: string
  onChange: (value: string | undefined) => void
  'aria-describedby': string
}

/** A list of chosen values, in the order of the choices. The label of the field has the id of the list with `-label`. */
export function ChoiceList({ id, choices, value, onChange, 'aria-describedby': description }: Props) {
  const chosen = value ? (JSON.parse(value) as readonly unknown[]) : []
  const toggle = (choice: unknown) => {
    const next = choices.filter((each) => chosen.includes(each) !== (each === choice))
    onChange(next.length > 0 ? JSON.stringify(next) : undefined)
  }
  return (
    <div
      id={id}
      className="choices"
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={description}
    >
      {choices.map((choice) => (
        <label key={String(choice)}>
          <input
            type="checkbox"
            checked={chosen.includes(choice)}
            onChange={() => {
              toggle(choice)
            }}
          />
          {String(choice)}
        </label>
      ))}
    </div>
  )
}
