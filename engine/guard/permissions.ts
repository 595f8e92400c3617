/** Returns whether an authorization table permits an action to a relation. */
export const isPermitted = <Action extends string>(
  permissions: Readonly<Record<string, readonly Action[]>>,
  relation: string,
  action: NoInfer<Action>,
) => permissions[relation]?.includes(action) ?? false
