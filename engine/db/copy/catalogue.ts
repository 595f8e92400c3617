import { type SQL, sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { JOB_SCHEMA } from '../jobs/tables.ts'

/** What a copy needs to know about a database. All names are quoted and have a schema. */
export interface Catalogue {
  tables: Table[]
  sequences: string[]
  /** The populated materialized views, in the order of their creation. */
  materializedViews: string[]
  hasLargeObjects: boolean
}

export interface Table {
  name: string
  /** The columns in the order of their names, without generated columns: PostgreSQL computes these again. */
  columns: { name: string; type: string }[]
  /** The foreign keys. `table` is the referenced table. */
  references: { name: string; table: string; isDeferrable: boolean }[]
  /** The enabled triggers of the application. */
  triggers: { name: string; mode: 'enable' | 'enable always' }[]
}

/** Runs a statement. The drivers return its rows in different forms. */
export async function query<Row>(db: Database, statement: SQL): Promise<Row[]> {
  const result = (await db.execute(statement)) as Row[] | { rows: Row[] }
  return Array.isArray(result) ? result : result.rows
}

/** Condition: a relation belongs to the engine or the application, and not to an extension or to the migrations. */
const isOwn = sql`nspname !~ '^pg_' and nspname not in ('information_schema', 'drizzle')
  -- The migrations fill these tables.
  and not (nspname = ${JOB_SCHEMA} and relname in ('version', 'queue'))
  and not exists (select from pg_depend
    where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`

const qualified = sql`format('%I.%I', nspname, relname)`
const classes = sql`pg_class join pg_namespace on pg_namespace.oid = relnamespace`

const columns = sql`select json_agg(json_build_object(
    'name', quote_ident(attname), 'type', format_type(atttypid, atttypmod)) order by attname collate "C")
  from pg_attribute
  where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''`

// A key can reference a partitioned table, whose partitions have the rows.
const references = sql`select json_agg(json_build_object(
    'name', quote_ident(conname), 'table', format('%I.%I', target_schema.nspname, target.relname),
    'isDeferrable', condeferrable) order by conname)
  from pg_constraint
  join pg_class as target on target.relkind = 'r'
    and (target.oid = confrelid or confrelid in (select pg_partition_ancestors(target.oid)))
  join pg_namespace as target_schema on target_schema.oid = target.relnamespace
  where conrelid = pg_class.oid and contype = 'f'`

const triggers = sql`select json_agg(json_build_object(
    'name', quote_ident(tgname), 'mode', case tgenabled when 'A' then 'enable always' else 'enable' end))
  from pg_trigger
  where tgrelid = pg_class.oid and not tgisinternal and tgenabled in ('O', 'A')`

const orEmptyList = (items: SQL) => sql`coalesce((${items}), '[]')`

/** Reads the tables, sequences and materialized views of a database. */
export async function readCatalogue(db: Database): Promise<Catalogue> {
  const [row] = await query<{ catalogue: string }>(
    db,
    sql`select json_build_object(
      'tables', ${orEmptyList(sql`select json_agg(json_build_object('name', ${qualified}, 'columns', ${orEmptyList(columns)},
        'references', ${orEmptyList(references)}, 'triggers', ${orEmptyList(triggers)}) order by ${qualified} collate "C")
        from ${classes} where relkind = 'r' and ${isOwn}`)},
      'sequences', ${orEmptyList(sql`select json_agg(${qualified} order by ${qualified} collate "C")
        from ${classes} where relkind = 'S' and ${isOwn}`)},
      'materializedViews', ${orEmptyList(sql`select json_agg(${qualified} order by pg_class.oid)
        from ${classes} where relkind = 'm' and relispopulated and ${isOwn}`)},
      'hasLargeObjects', exists (select from pg_largeobject_metadata)
    )::text as catalogue`,
  )
  return JSON.parse(row?.catalogue ?? '') as Catalogue
}

/** Returns the first table that has a row. */
export async function findFilledTable(db: Database, tables: readonly Table[]) {
  for (const { name } of tables) {
    const rows = await query(db, sql`select true as found from ${sql.raw(name)} limit 1`)
    if (rows.length > 0) return name
  }
  return undefined
}
