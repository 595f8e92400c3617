import {
  type AnyProcedure,
  type AnyRouter,
  getHiddenRouterContract,
  isProcedure,
  setHiddenRouterContract,
} from '@orpc/server'

import type { Resource } from '../../app/resource.ts'

type MapProcedure = (procedure: AnyProcedure) => AnyProcedure

/** Replaces each procedure of a router. */
export function mapRouter(router: AnyRouter, map: MapProcedure): AnyRouter {
  if (isProcedure(router)) return map(router)
  const mapped = mapValues(router as Readonly<Record<string, AnyRouter>>, (part) => mapRouter(part, map))
  // oRPC lists the procedures in the order of this contract.
  const contract = getHiddenRouterContract(router)
  return contract ? setHiddenRouterContract(mapped, contract) : mapped
}

/** Replaces each procedure of a resource. `live.read` of Datastar pages is a procedure, too. */
export function mapProcedures({ datastar, ...resource }: Resource, map: MapProcedure): Resource {
  const procedures = mapRouter(resource.procedures, map) as Resource['procedures']
  const { live } = datastar ?? {}
  if (!datastar || !live?.read) return { ...resource, procedures, ...(datastar && { datastar }) }
  return { ...resource, procedures, datastar: { ...datastar, live: { ...live, read: map(live.read) } } }
}

export const mapValues = <Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
