import type { CommandContext } from '../command-context.ts'

/** Prints one line for each resource and relation: the actions that the authorization table of the resource permits. */
export async function printPermissions({ loadApp, print }: Pick<CommandContext, 'loadApp' | 'print'>) {
  const { resources } = await loadApp()
  const rows = Object.entries(resources).flatMap(([resource, { items }]) =>
    Object.entries(items?.permissions ?? {}).map(([relation, actions]) => [
      resource,
      relation,
      actions.join(', '),
    ]),
  )
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  for (const [resource = '', relation = '', actions = ''] of rows)
    print([resource.padEnd(widthOf(0)), relation.padEnd(widthOf(1)), actions].join('  '))
}
