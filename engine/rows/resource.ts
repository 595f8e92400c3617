import { type AnyContractRouter, isContractProcedure } from '@orpc/contract'
import { implement, type ImplementerInternalWithMiddlewares } from '@orpc/server'
import { metaOf } from 'tallystick-contract'

import type { Database } from '../db/database.ts'
import { type PersonalData, selectWith } from '../db/personal-data.ts'
import { OWNER, type Rows } from '../db/rows/index.ts'
import type { Person } from '../db/users.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { versionTag } from '../guard/conditions.ts'
import { withCaller } from '../guard/index.ts'
import type { Items } from '../items.ts'
import type { Resource, ResourceNames, Samples } from '../resource.ts'
import { createOperations, type Permissions, recipientsOf, type Viewer } from './operations.ts'

type ResourceContract = Readonly<Record<string, AnyContractRouter>>

/** The implementers of the procedures, with the guard. */
type Implementers<Contract extends ResourceContract> = ImplementerInternalWithMiddlewares<
  Contract,
  Context,
  Context & Caller & Pick<Context, 'announce'>
>

type Operations<Row extends { id: string | number }, New, Changes, Action extends string, View> = ReturnType<
  typeof createOperations<Row, New, Changes, Action, View>
>

interface Options<
  Contract extends ResourceContract,
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
  view: (row: Omit<Row, 'version'>, viewer: Viewer<Action>) => View
  /** Returns the procedures. The operations are handlers: `update: os.update.handler(update(({ input }) => input))`. */
  procedures: (
    os: Implementers<Contract>,
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
  Contract extends ResourceContract,
  Row extends { id: string | number },
  New,
  Changes,
  View,
  Procedures extends Resource['procedures'],
  const Action extends string = never,
  const ExportName extends string = never,
>(
  contract: Contract,
  rows: Rows<Row, New, Changes>,
  {
    permissions = {},
    view,
    procedures,
    exportAs,
    ...described
  }: Options<Contract, Row, New, Changes, Action, View, Procedures> & {
    /** The field of the export of an account with the person's rows. */
    exportAs?: ExportName
  },
) {
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
  const topic = Object.values(contract).flatMap((procedure) =>
    isContractProcedure(procedure) ? (metaOf(procedure).reads ?? []) : [],
  )[0]
  const { members, parent } = rows.visibility
  const personalData = {
    select: selectWith(
      (db: Database, person: Person) => ({ own: rows.all(db, person) }),
      ({ own }, person) => ({
        [exportAs ?? '']: own.map((row) => operations.viewAs({ ...row, relations: [OWNER] }, person)),
      }),
    ),
  }
  return {
    ...described,
    procedures: procedures(
      implement(contract).$context<Context>().use(withCaller) as unknown as Implementers<Contract>,
      operations,
    ),
    items,
    rows,
    ...(topic && (members ?? parent) && { watch: { topic, listParents: rows.listSources } }),
    ...(exportAs !== undefined && { personalData }),
  } as ResourceOf<Procedures, Exported<ExportName, View>>
}

/** A resource with an export has personal data. */
type Exported<ExportName extends string, View> = [ExportName] extends [never]
  ? object
  : { personalData: PersonalData<Record<ExportName, View[]>> }

type ResourceOf<Procedures, Export> = Omit<Resource, 'procedures' | 'personalData'> & {
  procedures: Procedures
} & Export

const tagOf = (row: object | undefined) => row && versionTag(row as { version: number })
