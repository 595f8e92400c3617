import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId } from 'react'

import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { CallerSelect } from './caller-select.tsx'
import { overviewQuery } from '../client.ts'
import { type Draft, type DraftState, toJson } from './drafts.ts'
import { HeaderFields } from './header-fields.tsx'
import { parseInput, toValues } from './input.ts'
import { InputField } from './input-field.tsx'
import { type Issue, useIssues } from './issues.ts'
import { Segments } from './segments.tsx'

interface Props {
  procedure: ProcedureDescription
  state: DraftState
  /** What the button says. */
  action?: string
  isPending: boolean
  onRun: () => void
}

/** The form that calls a procedure. Ctrl+Enter in any field also calls. */
export function CallForm({ procedure, state, action = 'Run', isPending, onRun }: Props) {
  const { draft, change, parsed } = state
  const { data: overview } = useQuery(overviewQuery)
  const issues = useIssues(procedure.operation, parsed, draft.isEdited)
  const runWithKeys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    onRun()
  }
  return (
    <section>
      <form
        aria-label="Call"
        noValidate
        onKeyDown={runWithKeys}
        onSubmit={(event) => {
          event.preventDefault()
          onRun()
        }}
      >
        <div className="row head">
          <h3>Call</h3>
          {procedure.input && <ModeChoice state={state} />}
        </div>
        <CallerSelect
          people={overview?.people ?? []}
          value={draft.caller}
          onChange={(caller) => {
            change({ caller })
          }}
        />
        {procedure.input ? (
          <Input state={state} issues={issues} />
        ) : (
          <p className="muted">This procedure has no input.</p>
        )}
        <HeaderFields procedure={procedure} draft={draft} change={change} />
        <div className="row">
          <button type="submit" aria-busy={isPending} aria-keyshortcuts="Control+Enter">
            {action}
          </button>
          <small className="muted">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </small>
        </div>
      </form>
    </section>
  )
}

/** Chooses between the form and the whole input as JSON. The form is disabled while the form cannot show the JSON. */
function ModeChoice({ state: { draft, change, fields, parsed } }: { state: DraftState }) {
  const json = draft.mode === 'json' ? parseInput(draft.json) : undefined
  const values = fields && json?.isValid ? toValues(fields, json.input) : undefined
  const choose = (mode: Draft['mode']) => {
    if (mode === 'json') change({ mode, ...(parsed.isValid && { json: toJson(parsed.input) }) })
    else if (values) change({ mode, values })
  }
  return (
    <Segments
      legend="Edit the input as"
      options={{ form: 'Form', json: 'JSON' }}
      value={draft.mode}
      disabled={draft.mode === 'json' && !values ? ['form'] : []}
      onChange={choose}
    />
  )
}

function Input({ state, issues }: { state: DraftState; issues: readonly Issue[] }) {
  const { draft, change, fields } = state
  if (draft.mode === 'json' || !fields) return <JsonInput state={state} issues={issues} />
  const names = fields.map(({ name }) => name)
  const others = issues.filter(({ field }) => !names.includes(field))
  return (
    <>
      {fields.map((field) => (
        <InputField
          key={field.name}
          field={field}
          value={draft.values[field.name]}
          issues={issues.filter((issue) => issue.field === field.name)}
          onChange={(value) => {
            change({ values: { ...draft.values, [field.name]: value }, isEdited: true })
          }}
        />
      ))}
      {others.length > 0 && <IssueList issues={others} />}
    </>
  )
}

function JsonInput({ state: { draft, change }, issues }: { state: DraftState; issues: readonly Issue[] }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>Input</label>
      <textarea
        id={id}
        className="json"
        rows={8}
        spellCheck={false}
        value={draft.json}
        aria-invalid={issues.length > 0 || undefined}
        aria-describedby={`${id}-issues`}
        onChange={({ target }) => {
          change({ json: target.value, isEdited: true })
        }}
      />
      <div id={`${id}-issues`} role="status">
        <IssueList issues={issues} />
      </div>
    </div>
  )
}

const IssueList = ({ issues }: { issues: readonly Issue[] }) => (
  <ul className="issues">
    {issues.map(({ path, message }) => (
      <li key={path + message}>
        {path && <code>{path}</code>} {message}
      </li>
    ))}
  </ul>
)
