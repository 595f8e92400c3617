import { decodeParams, toRou3Pattern } from '@orpc/openapi/standard'
import { addRoute, createRouter, findRoute } from 'rou3'

import type { Endpoints } from '../../app/endpoint.ts'
import { hidesPath } from '../../app/paths.ts'
import { type GuardedEndpoint, guardedEndpoint } from '../../guard/endpoints.ts'

/** The endpoint of a request, with the parameters in its path. */
export interface FoundEndpoint extends GuardedEndpoint {
  params: Readonly<Record<string, string>>
}

/** Throws an error if an endpoint would hide a path of the service. `defineApp` does not know the files of built pages. */
export function requireFreePaths(endpoints: Endpoints, paths: readonly string[]) {
  for (const [name, { method, path }] of Object.entries(endpoints)) {
    const hidden = method === 'GET' ? paths.find((other) => hidesPath(path, other)) : undefined
    if (hidden !== undefined)
      throw new Error(
        `endpoints.${name}: the path ${path} would hide ${hidden} of the service; use another path`,
      )
  }
}

export type EndpointRoutes = ReturnType<typeof createEndpointRoutes>

/** Creates the functions that find the endpoints of an application, before the body of a request is read. */
export function createEndpointRoutes(endpoints: Endpoints) {
  const entries = Object.entries(endpoints)
  const routes = createRouter<GuardedEndpoint>()
  for (const [name, endpoint] of entries)
    addRoute(routes, endpoint.method, toRou3Pattern(endpoint.path), guardedEndpoint(name, endpoint))
  const find = (method: string, path: string) => findRoute(routes, method === 'HEAD' ? 'GET' : method, path)
  const methods = [...new Set(entries.map(([, { method }]) => method))]
  return {
    /** Returns undefined if no endpoint has the path with the method. */
    find(method = 'GET', path: string): FoundEndpoint | undefined {
      if (entries.length === 0) return undefined
      const found = find(method, path)
      return found && { ...found.data, params: decodeParams(found.params ?? {}) }
    },
    methodsAt: (path: string) => methods.filter((method) => find(method, path)),
    /** The longest time for a body, in milliseconds. */
    longestTimeout: 1000 * Math.max(0, ...entries.map(([, { timeout = 0 }]) => timeout)),
  }
}
