import { useEffect, useSyncExternalStore } from 'react'

import { MAX_REQUESTS } from '../../../engine/console/bounds.ts'
import type { LiveEntry } from '../../../engine/console/live/live-contract.ts'
import type { RecordedBatch, RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { client, isUnreachable, queryClient, RETRY_DELAY } from '../client.ts'

/** The number of live updates that the page keeps. */
const MAX_ENTRIES = 1000

export interface Recording {
  /** The newest request first. */
  requests: readonly RecordedRequest[]
  /** The newest live update first. */
  entries: readonly LiveEntry[]
  isRecording: boolean
  /** The error of the last attempt, if another attempt needs a person. */
  error: unknown
}

// The state of the module: the requests stay visible after a change of the view.
let recording: Recording = { requests: [], entries: [], isRecording: false, error: undefined }
/** Requests up to this time are not shown again. */
let clearedAt = 0
const listeners = new Set<() => void>()

function update(changes: Partial<Recording>) {
  recording = { ...recording, ...changes }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** Adds requests. A new connection receives the recorded requests again. */
function add({ requests, live }: RecordedBatch) {
  if (requests.length > 0) addRequests(requests)
  if (live.length > 0) update({ entries: [...live.toReversed(), ...recording.entries].slice(0, MAX_ENTRIES) })
}

function addRequests(batch: readonly RecordedRequest[]) {
  const known = new Set(recording.requests.map(({ id, time }) => `${id} ${time}`))
  const added = batch.filter(({ id, time }) => time > clearedAt && !known.has(`${id} ${time}`))
  if (added.length === 0) return
  const requests = [...added, ...recording.requests].sort((a, b) => b.time - a.time)
  update({ requests: requests.slice(0, MAX_REQUESTS) })
}

export function clearRequests() {
  clearedAt = recording.requests[0]?.time ?? clearedAt
  update({ requests: [] })
}

/** Receives requests until the signal aborts. Connects again after the end of a connection. */
async function watch(signal: AbortSignal) {
  const isOver = () => signal.aborted
  while (!isOver()) {
    try {
      const batches = await client.watch(undefined, { signal })
      // A new connection receives the recorded live updates again. Their numbers are of the process.
      update({ isRecording: true, error: undefined, entries: [] })
      void queryClient.invalidateQueries({ queryKey: ['streams'] })
      for await (const batch of batches) add(batch)
    } catch (error) {
      if (!isOver() && !isUnreachable(error)) update({ error })
    }
    if (isOver()) return
    update({ isRecording: false })
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
  }
}

/** Records requests while the component is shown. */
export function useRecorder() {
  useEffect(() => {
    const controller = new AbortController()
    void watch(controller.signal)
    return () => {
      controller.abort()
      update({ isRecording: false, error: undefined })
    }
  }, [])
}

export const useRecording = (): Recording => useSyncExternalStore(subscribe, () => recording)

/** Returns what names a request in addresses. The attempts of a job have the same id. */
export const nameOf = ({ id, time, protocol }: RecordedRequest) => (protocol === 'job' ? `${id}:${time}` : id)

/** Returns the address of the person who called. */
export const callerOf = ({ person, protocol, calls }: RecordedRequest) =>
  // Only a call of a procedure determines the person.
  person ?? (protocol === 'job' || calls.length === 0 ? 'none' : 'signed out')

/** Returns how long the service needed. A stream lasts until its reader leaves. */
export const durationOf = ({ isStream, duration }: RecordedRequest) => (isStream ? undefined : duration)

/** Whether the request is for a file of a page, such as a script or a font. */
export const isFile = ({ path, calls }: RecordedRequest) =>
  calls.length === 0 && !path.startsWith('/api/') && /\.\w+$/.test(path)

/** Returns the recorded request or attempt that added a job. */
export const findSourceOf = (job: string, requests: readonly RecordedRequest[]) =>
  requests.find(({ jobs }) => jobs.some(({ id }) => id === job))

export const findRequest = (requests: readonly RecordedRequest[], name: string) =>
  requests.find((request) => nameOf(request) === name || request.id === name)
