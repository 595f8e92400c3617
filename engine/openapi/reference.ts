import type { App } from '../app/resource.ts'
import { createInfo, listTags } from './document.ts'
import type { ReferenceDocument } from './procedure-description.ts'
import { compareResources, describeProcedures } from './procedures.ts'

/**
 * Creates the document of the reference page at `/docs`. Public: contains only what the OpenAPI document or the contract says
 * (engine/test/reference-document.test.ts).
 */
export const createReference = (app: App, baseUrl: string): ReferenceDocument => ({
  // The page explains the sign-in in a section of its own.
  info: { ...createInfo(app, baseUrl), description: app.description },
  tags: listTags(app).sort((a, b) => compareResources(a.name, b.name)),
  procedures: describeProcedures(app.contract),
})
