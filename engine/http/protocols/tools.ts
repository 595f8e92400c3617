import * as mcp from '@modelcontextprotocol/server'
import { type AnySchema, isContractProcedure } from '@orpc/contract'
import type { AnyProcedure } from '@orpc/server'
import { get, isObject } from '@orpc/shared'
import { type Meta, metaOf, type Tool } from 'tallystick-contract/internal'

import { schemaConverter } from '../../openapi/document.ts'
import type { App } from '../../app/resource.ts'
import { createJsonDecoder } from '../../values/decode.ts'
import { schemasOf } from '../../values/schema.ts'
import { proceduresOf } from './compile.ts'
import { isObjectSchema, type JsonSchema, toToolInput, toToolOutput } from './tool-schema.ts'

// The tools of AI agents: the procedures with `tool` in their meta.

const hints: Record<Tool['effect'], mcp.ToolAnnotations> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  overwrite: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
}

interface Declared {
  inputSchema?: AnySchema | undefined
  outputSchema?: AnySchema | undefined
  meta: Meta
}

/** Converts a schema to JSON Schema, as in the OpenAPI document. An output that can be undefined becomes null in a tool. */
function convert(schema: AnySchema | undefined, strategy: 'input' | 'output'): JsonSchema {
  if (!schema) return strategy === 'input' ? { type: 'object' } : {}
  const [required, json] = schemaConverter.convert(schema, { strategy })
  const isAbsent = strategy === 'output' && !required && Object.keys(json).length > 0
  return isAbsent ? { anyOf: [json, { type: 'null' }] } : json
}

/** Returns the configuration of the MCP tool that calls a procedure. */
function describe({ title, description, effect }: Tool, { inputSchema, outputSchema, meta }: Declared) {
  const output = convert(outputSchema, 'output')
  const published = toToolOutput(output)
  const config = {
    title,
    description,
    inputSchema: toStandard(toToolInput(convert(inputSchema, 'input'))),
    ...(published && { outputSchema: toStandard(published) }),
    annotations: { title, ...hints[effect], openWorldHint: false },
    ...(meta.scope && { scopeChallenge: mcp.requireScopes(meta.scope) }),
  }
  return { config, isObject: isObjectSchema(output) }
}

/** Converts a schema for the MCP library. Accepts every value, because the procedure itself validates input and output. */
function toStandard(json: JsonSchema) {
  const convert = () => json
  const validate = (value: unknown) => ({ value })
  const standard = {
    version: 1,
    vendor: 'tallystick',
    jsonSchema: { input: convert, output: convert },
    validate,
  }
  return { '~standard': standard } as unknown as mcp.StandardSchemaWithJSON
}

interface RegisteredTool extends ReturnType<typeof describe> {
  path: readonly string[]
  procedure: AnyProcedure
  /** Converts the types that JSON lacks. */
  decode: ReturnType<typeof createJsonDecoder>
}

/** The tools by name, in the order of the contract. */
export type Tools = ReadonlyMap<unknown, RegisteredTool>

export function findTools({ router, contract }: Pick<App, 'router' | 'contract'>): Tools {
  const tools = proceduresOf(router).flatMap(({ procedure, path }) => {
    const { tool } = metaOf(procedure)
    if (!tool) return []
    // The descriptions belong to the schemas of the contract.
    const declared = get(contract, path)
    const definition = isContractProcedure(declared) ? declared['~orpc'] : procedure['~orpc']
    const decode = createJsonDecoder(schemasOf(procedure).inputSchema)
    return [{ path, procedure, decode, ...describe(tool, definition) }]
  })
  return new Map(tools.map((tool) => [tool.path.join('_'), tool]))
}

/** Returns the tool that a message calls. Undefined for other messages, and for a call of an unknown tool. */
export const findCalledTool = (tools: Tools, { method, params }: Record<string, unknown>) =>
  method === 'tools/call' && isObject(params) ? tools.get(params.name) : undefined
