import { Column, type DriverValueDecoder, is, SQL, Subquery } from 'drizzle-orm'
import { PgJson, PgJsonb, type SelectedFieldsOrdered } from 'drizzle-orm/pg-core'

import type { Database } from './database.ts'

type Decode = (value: unknown) => unknown

// Both drivers parse JSON. Drizzle would parse a JSON text again, so that the text `5` became a number.
for (const type of [PgJson, PgJsonb]) type.prototype.mapFromDriverValue = Column.prototype.mapFromDriverValue

/**
 * Makes prepared statements read their rows with a reader that is created once for each statement. Drizzle determines the
 * decoder of every value of every row again, which takes twice as long. Replaces a method of the given database object and
 * returns the object. Transactions read rows as before.
 */
export function withRowReaders<Reading extends Database>(db: Reading): Reading {
  const { session } = db._
  const prepare = session.prepareQuery.bind(session)
  session.prepareQuery = (query, fields, name, isArray, mapper, ...rest) => {
    const reader = name === undefined || !fields ? undefined : createRowReader(fields)
    return prepare(query, fields, name, isArray, mapper ?? reader, ...rest)
  }
  return db
}

/** Returns a function that reads rows of flat fields. Undefined if a field is part of an object, for example after a join. */
function createRowReader(fields: SelectedFieldsOrdered) {
  if (fields.some(({ path }) => path.length !== 1)) return undefined
  const readers = fields.map(({ path: [name = ''], field }) => ({ name, decode: decoderOf(field) }))
  return (rows: unknown[][]) =>
    rows.map((values) => {
      const row: Record<string, unknown> = {}
      readers.forEach(({ name, decode }, index) => {
        const value = values[index]
        row[name] = decode && value !== null ? decode(value) : value
      })
      return row
    })
}

/** Returns the function that decodes the values of a field. Undefined if the values need no decoding. */
export function decoderOf(field: SelectedFieldsOrdered[number]['field']): Decode | undefined {
  if (is(field, Column)) {
    if (field.mapFromDriverValue === Column.prototype.mapFromDriverValue) return undefined
    return (value) => field.mapFromDriverValue(value)
  }
  const expression = is(field, SQL) ? field : is(field, Subquery) ? field._.sql : field.sql
  // The types of Drizzle hide the decoder.
  const { decoder } = expression as unknown as { decoder: DriverValueDecoder<unknown, unknown> }
  return (value) => decoder.mapFromDriverValue(value)
}
