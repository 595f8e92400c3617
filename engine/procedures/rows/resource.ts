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

import type { Database } from '../../db/connection/database.ts'
import { type PersonalData, selectWith } from '../../db/accounts/personal-data.ts'
import type { Related, Rows } from '../../db/rows/index.ts'
import type { Members } from '../../db/rows/visibility.ts'
import type { Person } from '../../db/accounts/users.ts'
import type { Caller } from '../../call/caller.ts'
import type { Context } from '../../call/context.ts'
import { versionTag } from '../../guard/conditions.ts'
import { withCaller, withoutCaller } from '../../guard/index.ts'
import type { CheckedVersion, Items } from '../../call/items.ts'
import type { Resource, Samples } from '../../app/resource.ts'
import type { TextByLanguage } from '../../texts/catalogues.ts'
import { type Permissions, recipientsOf } from './calls.ts'
import { createOperations, type ViewContext } from './operations.ts'

/** The implementers of the procedures, with the guard. */
type Implementers<
  Contracts extends ProcedureContracts,
  CallerOf = Caller,
> = ImplementerInternalWithMiddlewares<Contracts, Context, Context & CallerOf & Pick<Context, 'announce'>>

type Operations<
  Row extends { id: string | number },
  New,
  Changes,
  Action extends string,
  View,
  Role extends string,
> = ReturnType<typeof createOperations<Row, New, Changes, Action, View, Role>>

interface Options<
  Contracts extends ProcedureContracts,
  Part extends ExportPart | undefined,
  Row extends { id: string | number },
  New,
  Changes,
  Action extends string,
  View,
  Procedures,
  Role extends string,
> {
  /** A sentence for the OpenAPI document. */
  description: string
  names?: TextByLanguage
  /** The actions that each relation to a row permits. The relations come from the rows, for example `owner`. */
  permissions?: Permissions<Action>
  /** Returns a row as the contract describes it. */
  view: (row: Omit<Row, 'version'>, viewer: ViewContext<Action>) => View
  /**
   * Returns the procedures. The operations are handlers: `update: os.update.handler(update(({ input }) => input))`. `publicOs`
   * implements the procedures with public access.
   */
  procedures: (
    os: Implementers<Contracts>,
    operations: Operations<Row, New, Changes, Action, View, Role>,
    publicOs: Implementers<Contracts, object>,
  ) => Procedures
  /**
   * Returns the entity tag of a row for a person, for example with the number of changes of its members. By default, the tag is the
   * version, which statements compare. Another tag is compared after a lock of the row.
   */
  tag?: (row: Row, viewer: Related) => string
  /**
   * The answer to a person who may not see a row. By default 404, as for a row that does not exist. `forbidden` is 403: the person
   * then knows that the row exists.
   */
  unrelated?: 'missing' | 'forbidden'
  /** Selects the part of the export. By default, the part has one field: the rows that the person owns or wrote. */
  selectExport?: Part extends ExportPart ? PersonalData<DataOf<Part>>['select'] : never
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
  Role extends string = never,
>(
  { procedures: contracts, topics, exports }: ResourceContract<Contracts, Declared, Part>,
  rows: Rows<Row, New, Changes, Role>,
  {
    permissions = {},
    view,
    procedures,
    tag,
    unrelated = 'missing',
    selectExport,
    ...described
  }: Options<Contracts, Part, Row, New, Changes, Action, View, Procedures, Role>,
): ResourceOf<Procedures, Part> {
  const tagOf = tag ? (row: Row & Related) => tag(row, row) : versionOf
  const operations = createOperations(rows, permissions, view, tagOf)
  const { members, ownerRelation, parent } = rows.visibility
  const items: Items<string | number> = {
    permissions,
    async findRelation(db, person, id) {
      const row = await rows.find(db, person, id)
      if (row) return { names: row.relations, recipients: recipientsOf(rows, row) }
      const isForbidden = unrelated === 'forbidden' && (await rows.exists(db, id))
      return isForbidden ? { names: [], recipients: [] } : undefined
    },
    ...(parent && {
      parent: {
        key: parent.key,
        async findRelation(db, person, id) {
          const row = await parent.rows.find(db, person, id)
          return row && { names: row.relations, recipients: recipientsOf(parent.rows, row) }
        },
      },
    }),
    ...((tag ?? rows.isVersioned) && { ifMatch: createCheck() }),
  }
  const isRead = (topic: Topic) =>
    Object.values(contracts).some((contract) => metaOf(contract).reads === topic)
  // The states of this topic show the rows.
  const [topic] = topics.filter(isRead)
  const os = implement(contracts).$context<Context>()
  const created: Resource = {
    ...described,
    procedures: procedures(
      // The type of oRPC's function does not know the names of the procedures here.
      os.use(withCaller) as unknown as Implementers<Contracts>,
      operations,
      os.use(withoutCaller) as unknown as Implementers<Contracts, object>,
    ),
    items,
    rows,
    ...(topic && rows.sources && { watch: { topic, ...rows.sources } }),
    ...(exports && {
      personalData: { select: selectExport ?? selectOwnRows(exports), ...keptAddresses(members) },
    }),
  }
  return created as ResourceOf<Procedures, Part>

  function createCheck(): CheckedVersion<string | number> {
    const tagIfFound = (row: (Row & Related) | undefined) => row && tagOf(row)
    return {
      lockTag: async (tx, person, id) => tagIfFound(await rows.lock(tx, person, id)),
      ...(!tag && { findTag: async (db, person, id) => tagIfFound(await rows.find(db, person, id)) }),
    }
  }

  /** The export has one field: the rows that the person owns or wrote. */
  function selectOwnRows({ shape }: ExportPart) {
    const [field, ...others] = Object.keys(shape)
    if (field === undefined || others.length > 0)
      throw new Error(`${rows.name}: the part of the export must have one field, with the list of rows`)
    return selectWith(
      (db: Database, person: Person) => ({ own: rows.all(db, person) }),
      ({ own }, person) => ({
        [field]: own.map(({ relation = ownerRelation, ...row }) =>
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
    keepsAddressIn: { [getTableName(members.table)]: 'A membership belongs to the row of another person.' },
  }

/** A resource with a part of the export has personal data. */
type ResourceOf<Procedures, Part> = Omit<Resource, 'procedures' | 'personalData'> & {
  procedures: Procedures
} & (Part extends ExportPart ? { personalData: PersonalData<DataOf<Part>> } : object)

/** The entity tag of a row. Undefined if its table has no version. */
function versionOf(row: object) {
  const { version } = row as { version?: number }
  return version === undefined ? undefined : versionTag({ version })
}
