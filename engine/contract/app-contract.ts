import { engineContract, type EngineContract } from './built-in/engine.ts'
import type { ExportPart, ExportParts } from './export-part.ts'
import { metaOf, type Topic } from './meta.ts'
import type { ProcedureContracts, ResourceContract } from './resource-contract.ts'

/** A resource without topics and without a part of the export can be its procedures alone. */
type AnyResource = ResourceContract | ProcedureContracts

type ProceduresOf<Resource> = Resource extends ResourceContract<infer Procedures> ? Procedures : Resource

type TopicsOf<Resource> =
  Resource extends ResourceContract<ProcedureContracts, infer Declared> ? Declared : never

type PartOf<Resource> =
  Resource extends ResourceContract<ProcedureContracts, Topic, infer Part extends ExportPart> ? Part : never

/** The parts of the export by the name of the resource. */
type PartsOf<Resources> = {
  [Name in keyof Resources as [PartOf<Resources[Name]>] extends [never] ? never : Name]: PartOf<
    Resources[Name]
  >
}

type Engine<Resources, Others extends Topic> = ReturnType<
  typeof engineContract<TopicsOf<Resources[keyof Resources]> | Others, PartsOf<Resources>>
>

/**
 * The procedures of an application by the names of the resource and of the procedure.
 *
 * @example
 * export type Contract = typeof contract // AppContract<{ books: …, loans: … }>
 */
export type AppContract<Resources, Others extends Topic = never> = {
  [Name in keyof Engine<Resources, Others> | keyof Resources]: Name extends keyof Resources
    ? ProceduresOf<Resources[Name]>
    : Engine<Resources, Others>[Name & keyof EngineContract]
}

/** A resource of the application cannot have the name of a resource of the engine. */
type WithoutEngine = { [Name in keyof EngineContract]?: never }

/**
 * Declares what an application promises to clients: the contracts of its resources and of the engine, by name. Derives from
 * the resources, in their order, the topics of `live.watch` and the parts of the export of an account.
 *
 * The order of the contract is the order of the OpenAPI document and of the tools for agents: by default, first the resources
 * of the engine. `order` names the resources that come first instead. `topics` are topics that belong to no single resource.
 *
 * @example
 * export const contract = appContract({ books, loans })
 */
export function appContract<
  const Resources extends Readonly<Record<string, AnyResource>> & WithoutEngine,
  Others extends Topic = never,
>(
  resources: Resources,
  {
    order = [],
    topics = [],
  }: { order?: readonly (keyof Resources | keyof EngineContract)[]; topics?: readonly Others[] } = {},
): AppContract<Resources, Others> {
  const declared = Object.entries(resources).map(
    ([name, resource]) => [name, toResourceContract(resource)] as const,
  )
  const parts = declared.flatMap(([name, { exports }]) => (exports ? [[name, exports] as const] : []))
  const metas = declared.flatMap(([, { procedures }]) => Object.values(procedures).map(metaOf))
  const contracts: Record<PropertyKey, ProcedureContracts> = {
    ...engineContract(
      [...declared.flatMap(([, { topics }]) => topics), ...topics],
      Object.fromEntries(parts) as ExportParts,
      {
        auditActions: [...new Set(metas.flatMap(({ audit }) => audit ?? []))],
        grantsAccess: metas.some((meta) => meta.grantsAccess),
      },
    ),
    ...Object.fromEntries(declared.map(([name, { procedures }]) => [name, procedures])),
  }
  const names = new Set([...order, ...Object.keys(contracts)])
  return Object.fromEntries([...names].map((name) => [name, contracts[name]])) as AppContract<
    Resources,
    Others
  >
}

const toResourceContract = (resource: AnyResource): ResourceContract =>
  isResourceContract(resource) ? resource : { procedures: resource, topics: [], exports: undefined }

/** Also reads `topics`, because a procedure can have the name `procedures`: then `topics` is missing, or a procedure. */
const isResourceContract = (resource: AnyResource): resource is ResourceContract =>
  'procedures' in resource && Array.isArray(resource.topics)
