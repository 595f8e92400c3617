import { once } from 'node:events'
import {
  type CallContext,
  createRpcClient,
  type EngineContract,
  type Topic,
  type WatchInput,
} from 'tallystick-contract/internal'

import { toErrorMessage } from '../db/errors.ts'
import { terminalJson } from '../values/terminal.ts'

/**
 * Prints one JSON line for each update, until SIGINT or SIGTERM, or until the reader of the output ends. The client connects
 * again after a lost connection, a stop of the service, or the expiry of the access token, and continues after the last update.
 * `getAccessToken` is set if a topic needs a caller.
 *
 * Throws if the first attempt to connect fails, and if the service refuses the call, for example after a revocation.
 */
export async function watch(
  origin: string,
  input: WatchInput<Topic>,
  getAccessToken?: () => Promise<string>,
) {
  const { signal, isStopped } = createStopSignal()
  const client = createRpcClient<EngineContract>(origin, {
    // Each attempt to connect uses a current token.
    fetch: async (request, init) => {
      if (getAccessToken) request.headers.set('authorization', `Bearer ${await getAccessToken()}`)
      return fetch(request, init)
    },
  })
  let isConnected = false
  const onRetry: CallContext['onRetry'] = ({ error, attemptIndex }) => {
    // An error that is thrown here ends the attempts.
    if (!isConnected || isTokenUnavailable(error)) throw error
    // Reports an outage once. Attempt 0 is silent, because it mostly succeeds, for example after a restart of the service.
    if (attemptIndex === 1)
      process.stderr.write(`Connecting again after an error: ${toErrorMessage(error)}\n`)
  }
  try {
    const updates = await client.live.watch(input, { signal, context: { onRetry } })
    isConnected = true
    for await (const update of updates) await printLine(terminalJson(update, 0))
  } catch (error) {
    if (!isStopped()) throw error
  }
}

/**
 * Returns a signal that is aborted by SIGINT, by SIGTERM, and by the first write after the reader of the output has
 * ended, for example in `tallystick watch sessions | head -1`.
 */
function createStopSignal() {
  const controller = new AbortController()
  const abort = () => {
    controller.abort()
  }
  process.on('SIGINT', abort).on('SIGTERM', abort)
  process.stdout.on('error', abort)
  return { signal: controller.signal, isStopped: () => controller.signal.aborted }
}

/** Waits for a slow reader, so that updates do not collect in memory. */
async function printLine(line: string) {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
}

/**
 * Returns whether there is no access token, because the person has signed out or the service refuses a new token. Compares the name of the
 * error, because sign-in.ts loads the OAuth library, which a public topic does not need.
 */
const isTokenUnavailable = (error: unknown) => error instanceof Error && error.name === 'NotSignedIn'
