import { useState } from 'react'

import type { RecordedError, RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { addressOf } from '../location.ts'
import { Problem } from '../problem.tsx'
import { useSearchKeys } from '../procedures/search-keys.ts'
import { Choices, isChosen } from './choices.tsx'
import { clearRequests, durationOf, findRequest, isFile, nameOf, useRecording } from './recording.ts'
import { RequestDetails } from './request-details.tsx'
import { RequestTable } from './request-table.tsx'
import { useSelection } from './selection.ts'

const isError = ({ status, outcome, isStream }: RecordedRequest) =>
  outcome ? outcome !== 'completed' : status === null ? !isStream : status >= 400

/** Returns what an error and its causes say. */
const textsOf = (error: RecordedError | null | undefined): string[] =>
  error ? [error.code ?? error.type, error.message ?? '', ...textsOf(error.cause)] : []

function matches({ id, operation, path, person, app, ...request }: RecordedRequest, filter: string) {
  const { status, outcome, protocol, calls } = request
  const ofCalls = calls.flatMap(({ operation: name, input, error }) => [name, input, ...textsOf(error)])
  const text = [id, operation, path, person, app, protocol, outcome ?? status ?? 'closed', ...ofCalls]
    .join(' ')
    .toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** The requests of the service, live, with the details of the request with the id. */
export function Requests({ id, query }: { id: string; query: URLSearchParams }) {
  const { requests, isRecording, error } = useRecording()
  const [paused, setPaused] = useState<readonly RecordedRequest[]>()
  const { selection, change, addressWith } = useSelection(id, query)
  const { filter, onlyErrors, withFiles, isByDuration, choice } = selection
  const search = useSearchKeys()

  const all = paused ?? requests
  const selected = findRequest(all, id)
  const listed = all.filter((request) => withFiles || !isFile(request))
  const shown = listed.filter(
    (request) =>
      (!onlyErrors || isError(request)) && matches(request, filter.trim()) && isChosen(request, choice),
  )
  if (isByDuration) shown.sort((a, b) => (durationOf(b) ?? 0) - (durationOf(a) ?? 0))
  const missed = paused ? requests.filter((request) => !paused.includes(request)).length : 0
  const select = (request: RecordedRequest) => {
    location.hash = addressWith(nameOf(request))
  }
  const close = () => {
    document.querySelector<HTMLElement>('.requests [aria-expanded=true]')?.focus()
    location.hash = addressWith()
  }
  return (
    <>
      <div className="row head">
        <h2>Requests</h2>
        <p role="status" className={isRecording ? 'state on' : 'state'}>
          {isRecording ? 'Recording' : 'Connecting…'}
        </p>
        <span className="grow" />
        <input
          ref={search}
          type="search"
          className="search"
          aria-label="Filter by operation, path, person, status, input or error"
          aria-keyshortcuts="/"
          placeholder="Filter   /"
          autoComplete="off"
          value={filter}
          onChange={({ target }) => {
            change({ filter: target.value })
          }}
          onKeyDown={({ key }) => {
            if (key === 'ArrowDown') document.querySelector<HTMLElement>('.requests tbody button')?.focus()
          }}
        />
        <Check
          label="Only errors"
          isChecked={onlyErrors}
          onCheck={(next) => {
            change({ onlyErrors: next })
          }}
        />
        <Check
          label="Files of pages"
          isChecked={withFiles}
          onCheck={(next) => {
            change({ withFiles: next })
          }}
        />
        <button
          type="button"
          className="secondary"
          onClick={() => {
            setPaused(paused ? undefined : requests)
          }}
        >
          {paused ? `Resume${missed > 0 ? ` (${missed} new)` : ''}` : 'Pause'}
        </button>
        <button
          type="button"
          className="secondary"
          disabled={all.length === 0}
          onClick={() => {
            clearRequests()
            setPaused(paused && [])
            location.hash = addressWith()
          }}
        >
          Clear
        </button>
      </div>
      <Choices
        requests={listed}
        choice={choice}
        onChange={(next) => {
          change({ choice: next })
        }}
      />
      <Problem error={error} />
      {id && !selected && <p className="muted">The request {id} is not recorded, or no longer.</p>}
      <div className={selected ? 'requests has-detail' : 'requests'}>
        {shown.length > 0 ? (
          <RequestTable
            requests={shown}
            selected={selected}
            isByDuration={isByDuration}
            onSort={(next) => {
              change({ isByDuration: next })
            }}
            onSelect={select}
          />
        ) : (
          <section className="empty">{listed.length > 0 ? <NothingFound /> : <NothingRecorded />}</section>
        )}
        {selected && (
          <RequestDetails
            request={selected}
            onMove={(step) => {
              const next = shown[shown.indexOf(selected) + step]
              if (next && shown.includes(selected)) select(next)
            }}
            onClose={close}
          />
        )}
      </div>
    </>
  )
}

interface CheckProps {
  label: string
  isChecked: boolean
  onCheck: (isChecked: boolean) => void
}

const Check = ({ label, isChecked, onCheck }: CheckProps) => (
  <label className="check">
    <input
      type="checkbox"
      checked={isChecked}
      onChange={({ target }) => {
        onCheck(target.checked)
      }}
    />
    {label}
  </label>
)

const NothingFound = () => <p className="muted">No request matches the filter.</p>

const NothingRecorded = () => (
  <>
    <p>Requests appear here while a console is open. Nothing is recorded otherwise.</p>
    <p>
      <a href={addressOf('procedures')}>Call a procedure</a>
    </p>
  </>
)
