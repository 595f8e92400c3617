import { useMutation, useQuery } from '@tanstack/react-query'
import { use, useEffect, useRef, useState } from 'react'

import { sessionQuery } from '../../engine/dev/page/auth.ts'
import { Code, prettyJson } from '../console/code/copy.tsx'
import { Answer } from '../console/procedures/answer.tsx'
import { CallForm } from '../console/procedures/call-form.tsx'
import { formatSize } from '../console/format.ts'
import { issuesOfJson, parseInput, toIssue } from '../console/procedures/input.ts'
import { isRecord } from '../console/procedures/schema.ts'
import { issuesIn, type StreamEvent, watchProcedure } from './call.ts'
import { CredentialFields, useCredential } from './credential.tsx'
import { OpenSignIn } from './sign-in-dialog.tsx'
import { useReferenceTexts } from './texts.ts'
import type { TrialProps } from './trial.tsx'

/** The most events that the page keeps. */
const MAX_EVENTS = 50

/** The form that opens a stream, and the events as they arrive, the newest first. A second click stops the stream. */
export function Watch({ procedure, state }: TrialProps) {
  const { t } = useReferenceTexts()
  const { draft, change, parsed } = state
  const credential = useCredential()
  const { data: session } = useQuery(sessionQuery)
  const openSignIn = use(OpenSignIn)
  const [{ count, events }, setSeen] = useState<Seen>(NOTHING)
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  const { token } = credential
  const shown = useRef<HTMLElement>(null)
  const watch = useMutation({
    mutationFn: (input: unknown) => {
      setSeen(NOTHING)
      stop.current = new AbortController()
      const { signal } = stop.current
      return watchProcedure({ procedure, input, token, headers: {} }, signal, (event) => {
        setSeen((seen) => ({
          count: seen.count + 1,
          events: [{ ...event, number: seen.count + 1 }, ...seen.events].slice(0, MAX_EVENTS),
        }))
      })
    },
    onSuccess: (refusal) => {
      if (refusal?.status === 401 && token === undefined && session === null) openSignIn()
    },
  })
  const isWatching = watch.isPending
  const hasEvents = count > 0
  useEffect(() => {
    if (isWatching) shown.current?.scrollIntoView({ block: 'nearest' })
  }, [isWatching, hasEvents])
  const toggle = () => {
    change({ isEdited: true })
    if (isWatching) stop.current?.abort()
    else if (parsed.isValid) watch.mutate(parsed.input)
  }
  const refused = watch.data ? issuesIn(watch.data) : []
  const issues = parsed.isValid ? refused.map(toIssue) : issuesOfJson(parsed, t('invalidJson'))
  return (
    <>
      <CallForm
        procedure={procedure}
        state={state}
        issues={draft.isEdited ? issues : []}
        action={t(isWatching ? 'stop' : 'watch')}
        isPending={false}
        onRun={toggle}
      >
        <CredentialFields state={credential} />
      </CallForm>
      {watch.error && (
        <p role="alert" className="problem">
          {t('callFailed')}
        </p>
      )}
      {watch.data && <Answer result={watch.data} />}
      {!watch.isIdle && !watch.data && (
        <section aria-label={t('events')} ref={shown}>
          <div className="row head">
            <h3>{t('events')}</h3>
            <p role="status" className={isWatching ? 'state on' : 'state'}>
              {count > 0 ? count : isWatching && t('noEventYet')}
            </p>
          </div>
          {events.map((event) => (
            <Event key={event.number} event={event} isOpen={event.number === count} />
          ))}
        </section>
      )}
    </>
  )
}

/** Returns the topic of an event of live updates. */
function topicOf(data: string) {
  const parsed = parseInput(data)
  return parsed.isValid && isRecord(parsed.input) && typeof parsed.input.topic === 'string'
    ? parsed.input.topic
    : undefined
}

interface NumberedEvent extends StreamEvent {
  number: number
}

interface Seen {
  count: number
  events: readonly NumberedEvent[]
}

const NOTHING: Seen = { count: 0, events: [] }

function Event({ event: { time, data, number }, isOpen }: { event: NumberedEvent; isOpen: boolean }) {
  const { t, language } = useReferenceTexts()
  const name = `${t('events')}: ${number}`
  const facts = [new Date(time).toLocaleTimeString(language), topicOf(data), formatSize(data.length)]
  return (
    <details open={isOpen}>
      <summary>
        {number} · <span className="muted">{facts.filter(Boolean).join(' · ')}</span>
      </summary>
      <Code text={prettyJson(data)} name={name} />
    </details>
  )
}
