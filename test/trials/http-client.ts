import { type Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Question {
  method: string
  path: string
  headers?: Record<string, string>
  /** Goes as JSON. */
  body?: object
}

export interface Told {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
  /** In milliseconds. */
  took: number
}

/** Asks once, on a connection that may be kept. */
export const call = (agent: Agent, origin: string, { method, path, headers, body }: Question) =>
  new Promise<Told>((resolve, reject) => {
    const start = performance.now()
    const type = body && { 'content-type': 'application/json' }
    const outgoing = request(origin + path, { agent, method, headers: { ...type, ...headers } }, (answer) => {
      text(answer).then((body) => {
        const { statusCode: status = 0, headers } = answer
        resolve({ status, headers, body, took: performance.now() - start })
      }, reject)
    })
    outgoing.on('error', reject).end(body && JSON.stringify(body))
  })

export const quantile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(part * (values.length - 1))] ?? NaN
