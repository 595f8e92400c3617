import postgres, { type Options, type PostgresType, type Sql } from 'postgres'

/** How long a client that has lost a connection may still answer what it was asked, in milliseconds. */
const GRACE = 1000

/**
 * A client that is replaced, whole, when it loses a connection. postgres.js 3.4.9 forgets what it is asked between a
 * connection's failure and its end: that is never answered, and with a single connection nothing after it.
 */
export function createClient(
  url: string,
  optionsFor: (lose: () => void) => Options<Record<string, PostgresType>>,
) {
  let ended = false
  const make = (types?: Sql['options']) => {
    const lose = () => {
      if (ended || made !== current) return
      current = make(made.options)
      setTimeout(() => void made.end({ timeout: 0 }), GRACE).unref()
    }
    const made = postgres(url, optionsFor(lose))
    // What drizzle has set on the first.
    Object.assign(made.options.parsers, types?.parsers)
    Object.assign(made.options.serializers, types?.serializers)
    return made
  }
  let current = make()
  return {
    sql: new Proxy(current, { get: (_, name): unknown => Reflect.get(current, name) }),
    end: (timeout: number) => {
      ended = true
      return current.end({ timeout })
    },
  }
}
