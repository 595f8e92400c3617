import { type ComponentProps, type KeyboardEvent, type ReactNode, useId } from 'react'

import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { type Draft, type DraftState, toJson } from './drafts.ts'
import { HeaderFields } from './fields/header-fields.tsx'
import { useIdOptions } from './fields/id-options.ts'
import { type Issue, parseInput, toValues } from './input.ts'
import { InputField } from './fields/input-field.tsx'
import { isRecord } from './schema.ts'
import { Segments } from './segments.tsx'
import { isDestructive } from './snippets.ts'
import { useTexts } from './texts.ts'

interface Props {
  procedure: ProcedureDescription
  state: DraftState
  issues: readonly Issue[]
  /** What the button says. */
  action?: string
  isPending: boolean
  onRun: () => void
  /** The choice of the caller. */
  children: ReactNode
}

/** The form that calls a procedure. Ctrl+Enter in any field also calls. */
export function CallForm({ procedure, state, issues, action, isPending, onRun, children }: Props) {
  const { draft, change } = state
  const { t } = useTexts()
  const runWithKeys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    onRun()
  }
  return (
    <section>
      <form
        aria-label={t('call')}
        noValidate
        onKeyDown={runWithKeys}
        onSubmit={(event) => {
          event.preventDefault()
          onRun()
        }}
      >
        <div className="row head">
          <h3>{t('call')}</h3>
          {procedure.input && <ModeChoice state={state} />}
        </div>
        {children}
        {procedure.input ? (
          <Input procedure={procedure} state={state} issues={issues} />
        ) : (
          <p className="muted">{t('noInput')}</p>
        )}
        <HeaderFields procedure={procedure} draft={draft} change={change} />
        <div className="row">
          <button
            type="submit"
            className={isDestructive(procedure) ? 'destructive' : undefined}
            aria-busy={isPending}
            aria-keyshortcuts="Control+Enter"
          >
            {action ?? t('run')}
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
  const { t } = useTexts()
  const json = draft.mode === 'json' ? parseInput(draft.json) : undefined
  const values = fields && json?.isValid ? toValues(fields, json.input) : undefined
  const choose = (mode: Draft['mode']) => {
    if (mode === 'json') change({ mode, ...(parsed.isValid && { json: toJson(parsed.input) }) })
    else if (values) change({ mode, values })
  }
  return (
    <Segments
      legend={t('editAs')}
      options={{ form: t('form'), json: 'JSON' }}
      value={draft.mode}
      disabled={draft.mode === 'json' && !values ? ['form'] : []}
      onChange={choose}
    />
  )
}

function Input({ procedure, state, issues }: Pick<Props, 'procedure' | 'state' | 'issues'>) {
  const { draft, change, fields } = state
  if (draft.mode === 'json' || !fields) return <JsonInput state={state} issues={issues} />
  const names = fields.map(({ name }) => name)
  const others = issues.filter(({ field }) => !names.includes(field))
  return (
    <>
      {fields.map((field) => (
        <FormField
          key={field.name}
          procedure={procedure}
          field={field}
          state={state}
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

interface FormFieldProps
  extends
    Omit<ComponentProps<typeof InputField>, 'options' | 'onFocus'>,
    Pick<Props, 'procedure' | 'state'> {}

/** A field that offers the ids of another resource. A call that deletes something begins with the id of the example. */
function FormField({ procedure, state: { draft, change, parsed }, ...field }: FormFieldProps) {
  const { name } = field.field
  const keepsExample = !draft.isExample || draft.isEdited || isDestructive(procedure)
  const { options, load } = useIdOptions({
    procedure,
    name,
    input: parsed.isValid && isRecord(parsed.input) ? parsed.input : undefined,
    onSuggest: keepsExample
      ? undefined
      : (id) => {
          change({ values: { ...draft.values, [name]: id } })
        },
  })
  return <InputField {...field} options={options} onFocus={load} />
}

function JsonInput({ state: { draft, change }, issues }: { state: DraftState; issues: readonly Issue[] }) {
  const id = useId()
  const { t } = useTexts()
  return (
    <div className="field">
      <label htmlFor={id}>{t('input')}</label>
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
