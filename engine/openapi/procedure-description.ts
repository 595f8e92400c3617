import { z } from 'zod'

const JsonSchema = z.record(z.string(), z.unknown())

/** What the reference page (pages/docs/) and the console show of a procedure. All of it is public. */
export const ProcedureDescription = z.object({
  /** For example `books.create`. */
  operation: z.string(),
  resource: z.string(),
  summary: z.string(),
  description: z.string(),
  method: z.string(),
  /** With placeholders, such as `/api/books/{id}`. */
  path: z.string(),
  /** The value of `Accept` that selects the procedure, if another procedure has the same method and path. */
  mediaType: z.string().nullable(),
  /** `publicTopics`: anybody can watch public topics, and signed-in callers also the others. */
  access: z.enum(['public', 'publicTopics', 'signedIn', 'administrators']),
  scope: z.enum(['read', 'write']).nullable(),
  /** The name of the tool for agents. */
  tool: z.string().nullable(),
  /** Whether the answer is a stream of events, which cannot be called with a form. */
  isStream: z.boolean(),
  headers: z.array(z.enum(['Idempotency-Key', 'If-Match'])),
  rateLimit: z
    .object({
      name: z.string(),
      points: z.number(),
      duration: z.number(),
      by: z.enum(['account', 'network']),
    })
    .nullable(),
  errors: z.array(
    z.object({
      code: z.string(),
      status: z.number(),
      message: z.string(),
      /** Whether the procedure declares the error, so that clients know its type. */
      isDefined: z.boolean(),
      /** The body of an answer. */
      example: z.unknown(),
    }),
  ),
  /** The JSON Schemas of the input and the output. Null without an input or an output. */
  input: JsonSchema.nullable(),
  output: JsonSchema.nullable(),
  /** Examples of the input and the output from the contract. */
  example: z.unknown().optional(),
  outputExample: z.unknown().optional(),
})
export type ProcedureDescription = z.infer<typeof ProcedureDescription>

/** The document of the reference page, at `/docs/reference.json`. */
export interface ReferenceDocument {
  /** As in the OpenAPI document, without its sentence on the sign-in. The URL of the contact is the origin of the service. */
  info: { title: string; version: string; description: string; contact: { url: string } }
  /** The resources. */
  tags: { name: string; description: string }[]
  procedures: ProcedureDescription[]
}
