import { type Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface HttpRequest {
  method: string
  path: string
  headers?: Record<string, string>
  /** Sent as JSON. */
  body?: object
}

export interface HttpResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
  /** In milliseconds. */
  duration: number
}

export const sendRequest = (agent: Agent, origin: string, { method, path, headers, body }: HttpRequest) =>
  new Promise<HttpResponse>((resolve, reject) => {
    const start = performance.now()
    const type = body && { 'content-type': 'application/json' }
    const options = { agent, method, headers: { ...type, ...headers } }
    const outgoing = request(origin + path, options, (response) => {
      text(response).then((body) => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body, duration: performance.now() - start })
      }, reject)
    })
    outgoing.on('error', reject).end(body && JSON.stringify(body))
  })

export const quantile = (values: readonly number[], fraction: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(fraction * (values.length - 1))] ?? NaN
