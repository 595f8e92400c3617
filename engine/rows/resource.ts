import { implement, type ImplementerInternalWithMiddlewares } from '@orpc/server'
import { getTableName } from 'drizzle-orm'
import {
  type DataOf,
  type ExportPart,
  metaOf,
  type ProcedureContracts,
  type ResourceContract,
  type Topic,
} from 'tallystick-contract/internal'

import type { Database } from '../db/database.ts'
import { type PersonalData, selectWith } from '../db/personal-data.ts'
import { OWNER, type Rows } from '../db/rows/index.ts'
import type { Members } from '../db/rows/visibility.ts'
import type { Person } from '../db/users.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { versionTag } from '../guard/conditions.ts'
import { withCaller } from '../guard/index.ts'
import type { Items } from '../items.ts'
import type { Resource, ResourceNames, Samples } from '../resource.ts'
import { createOperations, type Permissions, recipientsOf, type ViewContext } from './operations.ts'

/** The implementers of the procedures, with the guard. */
type Implementers<Contracts extends ProcedureContracts> = ImplementerInternalWithMiddlewares<
  Contracts,
  Context,
  Context & Caller & Pick<Context, 'announce'>
>

type Operations<Row extends { id: string | number }, New, Changes, Action extends string, View> = ReturnType<
  typeof createOperations<Row, New, Changes, Action, View>
>

interface Options<
  Contracts extends ProcedureContracts,
  Row extends { id: string | number },
  New,
  Changes,
  Action extends string,
  View,
  Procedures,
> {
  /** A sentence for the OpenAPI document. */
  description: string
  names?: ResourceNames
  /** The actions that each relation to a row permits. The relations come from the rows, for example `owner`. */
  permissions?: Permissions<Action>
  /** Returns a row as the contract describes it. */
  view: (row: Omit<Row, 'version'>, viewer: ViewContext<Action>) => View
  /** Returns the procedures. The operations are handlers: `update: os.update.handler(update(({ input }) => input))`. */
  procedures: (
    os: Implementers<Contracts>,
    operations: Operations<Row, New, Changes, Action, View>,
  ) => Procedures
  importSamples?: () => Promise<{ samples: Samples }>
}

/**
 * Creates a resource whose items are the rows of a table. Who sees and changes a row follows from the rows and the permissions:
 * in lists, in each statement, in the guard, in `can`, in announcements, and in the export.
 *
 * @example
 * export const ideas = resource(ideaContract, ideaRows, {
 *   description: 'The ideas of a person.',
 *   view: ({ id, title }): Idea => ({ id, title }),
 *   procedures: (os, { page, insert }) => ({
 *     list: os.list.handler(page('ideas')),
 *     create: os.create.handler(insert(({ input }) => input)),
 *   }),
 * })
 */
export function resource<
  Contracts extends ProcedureContracts,
  Declared extends Topic,
  Part extends ExportPart | undefined,
  Row extends { id: string | number },
  New,
  Changes,
  View,
  Procedures extends Resource['procedures'],
  const Action extends string = never,
>(
  { procedures: contracts, topics, exports }: ResourceContract<Contracts, Declared, Part>,
  rows: Rows<Row, New, Changes>,
  {
    permissions = {},
    view,
    procedures,
    ...described
  }: Options<Contracts, Row, New, Changes, Action, View, Procedures>,
): ResourceOf<Procedures, Part> {
  const operations = createOperations(rows, permissions, view)
  const items: Items<string | number> = {
    permissions,
    async findRelation(db, person, id) {
      const row = await rows.find(db, person, id)
      return row && { names: row.relations, recipients: recipientsOf(rows, row) }
    },
    ...(rows.isVersioned && {
      ifMatch: {
        by: 'lock' as const,
        lockTag: async (tx, person, id) => tagOf(await rows.lock(tx, person, id)),
        findTag: async (db, person, id) => tagOf(await rows.find(db, person, id)),
      },
    }),
  }
  const { members, parent } = rows.visibility
  const isRead = (topic: Topic) =>
    Object.values(contracts).some((contract) => metaOf(contract).reads === topic)
  const [topic] = topics.filter(isRead)
  const resource: Resource = {
    ...described,
    procedures: procedures(
      // The type of oRPC's function does not know the names of the procedures here.
      implement(contracts).$context<Context>().use(withCaller) as unknown as Implementers<Contracts>,
      operations,
    ),
    items,
    rows,
    ...(topic && (members ?? parent) && { watch: { topic, listParents: rows.listSources } }),
    ...(exports && { personalData: { select: selectExport(exports), ...keptAddresses(members) } }),
  }
  return resource as ResourceOf<Procedures, Part>

  /** The export has one field: the rows that the person owns or wrote. */
  function selectExport({ shape }: ExportPart) {
    const [field, ...others] = Object.keys(shape)
    if (field === undefined || others.length > 0)
      throw new Error(`${rows.name}: the part of the export must have one field, with the list of rows`)
    return selectWith(
      (db: Database, person: Person) => ({ own: rows.all(db, person) }),
      ({ own }, person) => ({
        [field]: own.map(({ relation = OWNER, ...row }) =>
          // The row without its relation is the row again, which the compiler does not know.
          operations.viewAs({ ...(row as unknown as Row), relations: relation.split(',') }, person),
        ),
      }),
    )
  }
}

/** A membership remains after the deletion of the account with the address, because it belongs to the row of another person. */
const keptAddresses = (members: Members | undefined) =>
  members && {
    keepsAddressIn: {
      [getTableName(members.table)]: 'A membership belongs to the row of another person.',
    },
  }

/** A resource with a part of the export has personal data. */
type ResourceOf<Procedures, Part> = Omit<Resource, 'procedures' | 'personalData'> & {
  procedures: Procedures
} & (Part extends ExportPart ? { personalData: PersonalData<DataOf<Part>> } : object)

const tagOf = (row: object | undefined) => row && versionTag(row as { version: number })
