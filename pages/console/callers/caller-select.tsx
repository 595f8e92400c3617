import type { CallerChoice, Overview } from '../../../engine/console/contract.ts'

interface Option {
  label: string
  caller: CallerChoice
}

interface Group {
  /** Empty for options outside of a group. */
  label: string
  options: readonly Option[]
}

const scopeChoices = [
  { label: 'read', scopes: ['read'] },
  { label: 'write', scopes: ['write'] },
  { label: 'read and write', scopes: ['read', 'write'] },
] satisfies readonly { label: string; scopes: CallerChoice['scopes'] }[]

/** Lists the callers: nobody, the sample people, and the people without the administrator with access tokens. */
function listGroups(people: Overview['people']): Group[] {
  const tokens = people
    .filter(({ person }) => person !== 'admin')
    .map(({ person, name }) => ({
      label: `Access token of ${name}`,
      options: scopeChoices.map(({ label, scopes }) => ({
        label: `${name}, token: ${label}`,
        caller: { person, scopes },
      })),
    }))
  return [
    { label: '', options: [{ label: 'Signed out', caller: { person: null, scopes: null } }] },
    {
      label: 'Session',
      options: people.map(({ person, name }) => ({ label: name, caller: { person, scopes: null } })),
    },
    ...tokens,
  ]
}

const keyOf = ({ person, scopes }: CallerChoice) => [person ?? '', ...(scopes ?? [])].join(' ')

interface Props {
  people: Overview['people']
  value: CallerChoice
  onChange: (caller: CallerChoice) => void
}

/** Selects the caller of a call. */
export function CallerSelect({ people, value, onChange }: Props) {
  const groups = listGroups(people)
  const options = groups.flatMap((group) => group.options)
  return (
    <label>
      Call as
      <select
        value={keyOf(value)}
        onChange={({ target }) => {
          const option = options.find(({ caller }) => keyOf(caller) === target.value)
          if (option) onChange(option.caller)
        }}
      >
        {groups.map((group) =>
          group.label ? (
            <optgroup key={group.label} label={group.label}>
              <Options options={group.options} />
            </optgroup>
          ) : (
            <Options key="" options={group.options} />
          ),
        )}
      </select>
    </label>
  )
}

const Options = ({ options }: Pick<Group, 'options'>) =>
  options.map(({ label, caller }) => (
    <option key={label} value={keyOf(caller)}>
      {label}
    </option>
  ))
