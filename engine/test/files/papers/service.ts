import { once } from 'node:events'
import {
  type ClientRequest,
  type IncomingMessage,
  request as sendRequest,
  type RequestOptions,
} from 'node:http'

import { createRestClient, createRpcClient } from 'tallystick-contract'
import { createTallystick } from 'tallystick-dev/testing'

import type { Files } from '../../../http/files/index.ts'
import { bindService, newEmail, settingsWithAddress } from '../../fixtures/bind-service.ts'
import { createPapers } from './app.ts'
import { type Client, contract } from './contract.ts'

/** Starts the application with papers, until the end of the file. */
export async function startPapers(files: Files, environment: Record<string, string> = {}) {
  const service = await bindService<Client>({
    createTallystick: (settings) => createTallystick(createPapers(files), settings),
    createClient: (origin, options) => createRpcClient<typeof contract>(origin, options),
    createRestClient: (origin, options) => createRestClient(contract, origin, options),
  }).startService({ ...(await settingsWithAddress()), ...environment })
  const urlOf = (id: string) => `${service.origin}/api/papers/${id}/file`

  /** A person with a paper, and functions that send requests to the files of papers. */
  async function prepare() {
    const email = newEmail()
    const cookie = await service.signIn(email)
    const client = service.client({ cookie })
    const { id } = await client.papers.create({ title: 'A paper' })
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const send = (
      of: string,
      init: { method?: string; body?: string | Buffer; headers?: Record<string, string> } = {},
    ) => fetch(urlOf(of), { ...init, headers: { ...headers, ...init.headers } })
    return {
      email,
      client,
      id,
      url: urlOf(id),
      headers,
      send,
      upload: async (of: string, body: string | Buffer, type = 'text/plain') =>
        (await send(of, { method: 'PUT', body, headers: { 'content-type': type } })).status,
      post: (path: string) =>
        fetch(service.origin + path, {
          method: 'POST',
          body: '{}',
          headers: { ...headers, 'content-type': 'application/json' },
        }),
      /** Begins a request: the test sends the body, and reads the answer. */
      begin: (
        of: string,
        {
          method = 'GET',
          ...options
        }: Pick<RequestOptions, 'method'> & { headers?: Record<string, string> } = {},
      ) => sendRequest(urlOf(of), { agent: false, method, headers: { ...headers, ...options.headers } }),
    }
  }
  return { ...service, prepare }
}

export async function answerTo(sent: ClientRequest) {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer.resume()
}
