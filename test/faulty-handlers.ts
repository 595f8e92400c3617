import { type AnyProcedure, type AnyRouter, isProcedure, ORPCError, Procedure } from '@orpc/server'

export const SECRET = 'swordfish'

/**
 * The fault that the handlers cause. `leak` adds undeclared properties to every object in an output or in error data.
 * `break` wraps every text, number, boolean and null of an output in an object. `count` is the number of objects with
 * added properties.
 */
export const faults = { mode: 'none' as 'none' | 'leak' | 'break', count: 0 }

function spoil(value: unknown): unknown {
  if (Array.isArray(value))
    return [...value.map(spoil), ...(faults.mode === 'break' ? [{ [SECRET]: SECRET }] : [])]
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, inner]) => [name, spoil(inner)])
    faults.count++
    return {
      ...(faults.mode === 'leak' && { leaked: SECRET }),
      ...Object.fromEntries(entries),
      [SECRET]: SECRET,
    }
  }
  return faults.mode === 'break' ? { [SECRET]: value } : value
}

function spoilProcedure(procedure: AnyProcedure) {
  const definition = procedure['~orpc']
  const handler = async (options: Parameters<typeof definition.handler>[0]) => {
    try {
      const output: unknown = await definition.handler(options)
      return faults.mode === 'none' ? output : spoil(output)
    } catch (error) {
      if (faults.mode !== 'leak' || !(error instanceof ORPCError)) throw error
      const { code, status, message } = error
      throw new ORPCError(code as string, { status, message, data: spoil(error.data ?? {}) })
    }
  }
  return new Procedure({ ...definition, handler })
}

/** Wraps each handler of a router. The wrapper causes the fault that `faults.mode` selects. */
export function spoilRouter(router: AnyRouter): AnyRouter {
  if (isProcedure(router)) return spoilProcedure(router)
  const entries = Object.entries(router as Record<string, AnyRouter>)
  return Object.fromEntries(entries.map(([name, inner]) => [name, spoilRouter(inner)]))
}
