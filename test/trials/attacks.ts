import { Agent } from 'node:http'
import { connect } from 'node:net'

import { sendRequest } from './http-client.ts'
import type { Service } from './service-process.ts'

/** Starts an attack on a service. Returns the function that ends the attack. */
export type Attack = (service: Service, cookie: string) => () => void

const rawRequest = (origin: string, path: string, headers: Record<string, string>) =>
  `GET ${path} HTTP/1.1\r\n${Object.entries({ host: new URL(origin).host, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** Keeps `count` connections open that send `text`, and read nothing. Replaces a connection that the service closes. */
function sendWithoutReading({ origin }: Service, count: number, text: string) {
  const sockets = new Set<ReturnType<typeof connect>>()
  let ended = false
  const open = () => {
    const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1' })
    sockets.add(socket)
    socket.pause()
    socket.on('error', () => undefined)
    socket.on('connect', () => socket.write(text))
    socket.on('close', () => {
      sockets.delete(socket)
      if (!ended) setTimeout(open, 100)
    })
  }
  for (let index = 0; index < count; index++) open()
  return () => {
    ended = true
    for (const socket of sockets) socket.destroy()
  }
}

/** Sends requests without a pause, over `count` connections. */
function sendAgain({ origin }: Service, count: number, path: string, headers: Record<string, string>) {
  const agent = new Agent({ keepAlive: true })
  let ended = false
  const run = async () => {
    while (!ended) await sendRequest(agent, origin, { method: 'GET', path, headers }).catch(() => undefined)
  }
  for (let index = 0; index < count; index++) void run()
  return () => {
    ended = true
    agent.destroy()
  }
}

/** 7,600 elements, which is nearly the maximum size of the headers. */
const LONG_ACCEPT = Array.from({ length: 7600 }, () => 'a').join(',')

/** Attacks of one caller on the other callers. */
export const attacks = {
  'four connections, Accept with 7,600 elements': (service) =>
    sendAgain(service, 4, '/api/status', { accept: LONG_ACCEPT }),
  '150 connections that do not read a large list': (service, cookie) =>
    sendWithoutReading(service, 150, rawRequest(service.origin, '/api/tasks', { cookie })),
} satisfies Record<string, Attack>

/** Attacks with streams. */
export const streamAttacks = {
  '110 connections with 50 pipelined streams': (service) =>
    sendWithoutReading(service, 110, rawRequest(service.origin, '/api/live?topics=counter', {}).repeat(50)),
  '20 streams of an account with large tasks': (service, cookie) => {
    const ends = Array.from({ length: 20 }, (_, index) => {
      const controller = new AbortController()
      const path = `/api/live?topics=tasks&tasks[limit]=${100 + index}`
      void fetch(service.origin + path, { headers: { cookie }, signal: controller.signal })
        .then((response) => response.body?.pipeTo(new WritableStream()))
        .catch(() => undefined)
      return () => {
        controller.abort()
      }
    })
    return () => {
      for (const end of ends) end()
    }
  },
} satisfies Record<string, Attack>
