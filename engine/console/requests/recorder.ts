import { EventPublisher, isAsyncIteratorObject } from '@orpc/shared'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { metaOf } from 'tallystick-contract/internal'

import type { App } from '../../app/resource.ts'
import type { AttributesOf } from '../../call/context.ts'
import { describeFully } from '../../telemetry/error-descriptions.ts'
import { MAX_PATH } from '../../telemetry/log.ts'
import { type RecordedCall, type Recorder, type Recording, recordings } from '../../telemetry/recording.ts'
import { createLiveRecorder, MAX_ENTRIES } from '../live/live-recorder.ts'
import type { LiveEntry } from '../live/live-contract.ts'
import { addStatement, createRecording, MAX_STATEMENT } from './recordings.ts'
import type { RecordedBatch, RecordedRequest } from './requests-contract.ts'
import { MAX_REQUESTS } from '../bounds.ts'
import { describeValue } from '../redaction.ts'

/** The header of requests that are not recorded. */
const MARK = 'x-tallystick-unrecorded'

/** Time for which the recording continues without a watcher, in milliseconds: a page that loads again watches again. */
const PAUSE = 10_000

export interface RequestRecorder extends Recorder {
  /**
   * Yields the recorded requests and live updates, the oldest first, and then each new one. The first watcher starts the recording. Ten
   * seconds after the last watcher has left, the recording stops, and everything is removed.
   */
  watch: (signal: AbortSignal | undefined) => AsyncGenerator<RecordedBatch>
  isRecording: () => boolean
  /** The headers of a request that is not recorded. */
  unrecorded: Readonly<Record<string, string>>
  /** Calls the listener whenever the recording stops. */
  onStop: (listener: () => void) => void
  /** Returns the text of a statement of a recorded request. Undefined if the text is cut, or not recorded. */
  findStatement: (id: string) => string | undefined
  listStreams: ReturnType<typeof createLiveRecorder>['listStreams']
}

export function createRecorder(app: App, pause = PAUSE): RequestRecorder {
  const publisher = new EventPublisher<{ batch: RecordedBatch }>()
  const secrets = operationsWithSecrets(app)
  let requests: RecordedRequest[] = []
  let entries: LiveEntry[] = []
  /** The recordings of the requests in progress. */
  const open = new Set<Recording>()
  const stopListeners: (() => void)[] = []
  let stopping: NodeJS.Timeout | undefined
  // Random, so that only the console can hide a request.
  const mark = randomUUID()

  const add = (request: RecordedRequest) => {
    requests = [...requests, request].slice(-MAX_REQUESTS)
    publisher.publish('batch', { requests: [request], live: [] })
  }

  const live = createLiveRecorder((entry) => {
    entries = [...entries, entry].slice(-MAX_ENTRIES)
    publisher.publish('batch', { requests: [], live: [entry] })
  })
  const isRecording = () => publisher.size > 0 || stopping !== undefined

  const begin = (id: string) => {
    const recording = createRecording(id)
    open.add(recording)
    return recording
  }

  /** Frees the values. Timers of the request can keep the recording itself as their context. */
  const end = (recording: Recording) => {
    for (const call of recording.calls) Object.assign(call, { input: undefined, outcome: undefined })
    Object.assign(recording, { isOver: true, calls: [], statements: [], lines: [], jobs: [] })
    open.delete(recording)
  }

  const stop = () => {
    stopping = undefined
    requests = []
    entries = []
    live.clear()
    for (const recording of open) end(recording)
    // Up to Node 22, an enabled storage makes every promise of the process slower.
    recordings.disable()
    for (const listener of stopListeners) listener()
  }

  return {
    isRecording,
    unrecorded: { [MARK]: mark },
    onStop: (listener) => {
      stopListeners.push(listener)
    },
    findLiveObserver: () => (isRecording() ? live.observer : undefined),
    findStatement: (id) => {
      const text = requests.flatMap(({ statements }) => statements).find((each) => each.id === id)?.text
      return text !== undefined && text.length < MAX_STATEMENT ? text : undefined
    },
    observeStreams: live.observeStreams,
    listStreams: live.listStreams,

    observeStatement: async ({ name, text }, run) => {
      const recording = recordings.getStore()?.recording
      if (!recording || recording.isOver) return run()
      const start = performance.now()
      if (recording.runningStatements++ === 0) recording.databaseSince = start
      let failed = true
      try {
        const result = await run()
        failed = false
        return result
      } finally {
        const endedAt = performance.now()
        const duration = endedAt - start
        if (--recording.runningStatements === 0) recording.databaseTime += endedAt - recording.databaseSince
        addStatement(recording, { name, text, start: start - recording.startedAt, duration, failed })
      }
    },

    record: (request, response, attributesOf, handle) => {
      // Without a watcher, no request is recorded.
      if (!isRecording() || request.headers[MARK] === mark) return handle
      const recording = begin(idOf(request))
      const time = Date.now()
      response.once('close', () => {
        // The last watcher has left during the request.
        if (recording.isOver) return
        const duration = performance.now() - recording.startedAt
        live.addEnded(recording)
        add({
          time,
          duration,
          ...describeRequest(request, response, attributesOf),
          ...describe(recording, secrets),
        })
        end(recording)
      })
      return () => {
        recordings.run({ recording }, handle)
      }
    },

    recordAttempt: async ({ id, name, input }, run) => {
      if (!isRecording()) return run()
      const recording = begin(id)
      const call: RecordedCall = { operation: `jobs.${name}`, input, startedAt: recording.startedAt }
      recording.calls.push(call)
      const time = Date.now()
      try {
        const result = await recordings.run({ recording, call }, run)
        const { outcome } = result
        if ('error' in result) call.outcome = { error: result.error }
        if (recording.isOver) return result
        live.addEnded(recording)
        add({
          ...describe(recording, secrets),
          ...NO_REQUEST,
          id,
          time,
          outcome,
          duration: performance.now() - recording.startedAt,
          operation: call.operation,
        })
        return result
      } finally {
        end(recording)
      }
    },

    async *watch(signal) {
      const events = publisher.subscribe('batch', { signal, maxBufferedEvents: MAX_REQUESTS + MAX_ENTRIES })
      clearTimeout(stopping)
      stopping = undefined
      try {
        yield { requests, live: entries }
        yield* events
      } finally {
        await events.return(undefined)
        if (publisher.size === 0) stopping = setTimeout(stop, pause).unref()
      }
    },
  }
}

/** Instead of the values of a request. */
const NO_REQUEST = { method: '', path: '', protocol: 'job', status: null } as const

const operationsWithSecrets = ({ resources }: App) =>
  new Set(
    Object.entries(resources).flatMap(([name, { procedures }]) =>
      Object.entries(procedures).flatMap(([key, procedure]) =>
        metaOf(procedure).secrets ? [`${name}.${key}`] : [],
      ),
    ),
  )

const idOf = ({ id }: IncomingMessage) => (typeof id === 'string' ? id : '')

function describeRequest(request: IncomingMessage, response: ServerResponse, attributesOf: AttributesOf) {
  const { method = '', url: path = '', headers } = request
  return {
    id: idOf(request),
    method,
    path: path.slice(0, MAX_PATH),
    operation: attributesOf(request)?.operation ?? null,
    protocol: protocolOf(path, headers['datastar-request'] !== undefined),
    status: response.writableFinished ? response.statusCode : null,
    outcome: null,
  }
}

function protocolOf(path: string, isDatastar: boolean): RecordedRequest['protocol'] {
  if (path.startsWith('/rpc/')) return 'RPC'
  if (path === '/mcp') return 'MCP'
  if (isDatastar) return 'Datastar'
  return path.startsWith('/api/') && !path.startsWith('/api/auth/') ? 'REST' : 'other'
}

function describe(
  { calls, startedAt, statements, lines, jobs, statementCount, databaseTime, caller }: Recording,
  secrets: ReadonlySet<string>,
) {
  return {
    person: caller?.email ?? null,
    app: caller?.clientId ?? null,
    databaseTime,
    statementCount,
    statements,
    lines,
    jobs,
    isStream: calls.some(
      ({ outcome }) => outcome && 'output' in outcome && isAsyncIteratorObject(outcome.output),
    ),
    calls: calls.map((call) => describeCall(call, startedAt, secrets.has(call.operation))),
  }
}

function describeCall(call: RecordedCall, requestedAt: number, hasSecrets: boolean) {
  const { operation, input, outcome, startedAt, permittedAt, endedAt = performance.now() } = call
  return {
    operation,
    start: startedAt - requestedAt,
    permitted: permittedAt === undefined ? null : permittedAt - requestedAt,
    end: endedAt - requestedAt,
    input: describeValue(input, false), // `secrets` of a procedure are only in its output
    output: outcome && 'output' in outcome ? describeValue(outcome.output, hasSecrets) : null,
    // The console is only for developers, so that the error has its message.
    error: outcome && 'error' in outcome ? describeFully(outcome.error) : null,
  }
}
