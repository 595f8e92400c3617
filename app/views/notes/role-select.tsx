import { type Message, useLanguage } from '../../language.ts'

const roles = ['reader', 'editor'] as const
export type Role = (typeof roles)[number]

const roleNames = { reader: 'reader', editor: 'editor' } as const satisfies Record<Role, Message>

interface Props {
  role: Role
  onRole: (role: Role) => void
  /** The accessible name. Absent if a label contains the element. */
  label?: string
}

export function RoleSelect({ role, onRole, label }: Props) {
  const { t } = useLanguage()
  return (
    <select
      aria-label={label}
      value={role}
      onChange={({ target }) => {
        onRole(roles.find((each) => each === target.value) ?? role)
      }}
    >
      {roles.map((each) => (
        <option key={each} value={each}>
          {t(roleNames[each])}
        </option>
      ))}
    </select>
  )
}
