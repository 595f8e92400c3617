import type { Items } from '../items.ts'

export const isPermitted = <Action extends string>(
  permissions: Readonly<Record<string, readonly Action[]>>,
  relation: string,
  action: NoInfer<Action>,
) => permissions[relation]?.includes(action) ?? false

/** Returns whether every signed-in caller may do the action. */
export const isPermittedToAnyone = ({ permissions }: Items, action: string) =>
  isPermitted(permissions, 'anyone', action)
