import { ORPCError } from '@orpc/client'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

import { encodeError } from './errors.ts'
import { LINGER } from './connection.ts'

const PARSER_ERRORS: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

/** Sends the error of a request that Node cannot parse. */
export function refuseUnparsable(error: ParserError, socket: Duplex) {
  // The service has already answered the request. The error is in the rest of the request, which the service does not
  // read.
  if (socket.writableEnded) return
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const status = PARSER_ERRORS[error.code ?? ''] ?? 400
  const message = STATUS_CODES[status] ?? ''
  const code = message.toUpperCase().replaceAll(' ', '_')
  const { type, text } = encodeError(readHead(error), new ORPCError(code, { status, message }))
  const head = `HTTP/1.1 ${status} ${message}\r\nconnection: close\r\ncontent-type: ${type}`
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  const deadline = setTimeout(() => socket.destroy(), LINGER).unref()
  socket.once('close', () => {
    clearTimeout(deadline)
  })
}

type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer }

/**
 * Reads the path and the headers that select the representation of an error. Finds nothing if Node has received
 * the start of the request in an earlier packet.
 */
function readHead({ rawPacket }: ParserError) {
  const head = rawPacket?.toString('latin1') ?? ''
  const [, url] = /^[A-Z]+ (\S+) HTTP/.exec(head) ?? []
  const lines = [...head.matchAll(/\r\n(accept|x-orpc-batch):([^\r]*)/gi)]
  return {
    url,
    headers: Object.fromEntries(lines.map(([, name = '', value]) => [name.toLowerCase(), value])),
  }
}
