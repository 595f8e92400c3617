import postgres, { type Options, type PostgresType, type Sql } from 'postgres'

/** How long a client that has lost a connection may still answer what it was asked, in milliseconds. */
const GRACE = 1000

/** How values are read and written, by the type of their column. */
export type Types = Pick<Sql['options'], 'parsers' | 'serializers'>

/**
 * A client that is replaced, whole, when it loses a connection. postgres.js 3.4.9 forgets what it is asked between a
 * connection's failure and its end: that is never answered, and with a single connection nothing after it.
 */
export function createClient(
  url: string,
  types: Types,
  optionsFor: (lose: () => void) => Options<Record<string, PostgresType>>,
) {
  let ended = false
  const make = ({ parsers, serializers }: Types) => {
    const lose = () => {
      if (ended || made !== current) return
      // With what drizzle has set on it.
      current = make(made.options)
      setTimeout(() => void made.end({ timeout: 0 }), GRACE).unref()
    }
    const made = postgres(url, optionsFor(lose))
    Object.assign(made.options.parsers, parsers)
    Object.assign(made.options.serializers, serializers)
    return made
  }
  let current = make(types)
  return {
    sql: new Proxy(current, { get: (_, name): unknown => Reflect.get(current, name) }),
    end: (timeout: number) => {
      ended = true
      return current.end({ timeout })
    },
  }
}
