import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ORPCError } from 'tallystick-contract/internal'

import { codeOf } from '../../query-client.ts'
import { useLanguage } from '../../language.tsx'
import { Conflict } from '../forms/conflict.tsx'
import { EditForm } from '../forms/edit-form.tsx'
import { Fields, type FieldsOptions, type FieldValues, namesOf } from '../forms/fields.tsx'
import type { Rows, Tagged } from './create-rows.ts'

interface Props<Id extends string | number, Item extends { id: Id }, Name extends string> {
  rows: Rows<Id, Item, Name>
  /** The version of the item when the person began to edit. */
  base: Tagged<Item>
  /** The item in the list, which changes while the person edits. */
  current: Item
  fields: FieldsOptions<Name>
  /** The texts about changes by other devices, if the item has a name of its own. */
  messages?: { changed: string; deleted: string; saveAsNew: string }
}

interface Save<Name extends string> {
  /** The version that the person has seen. */
  seen: object
  values: FieldValues<Name>
}

/** The errors that the form explains in its own words. */
const explained = ['PRECONDITION_FAILED', 'NOT_FOUND']

/**
 * Edits an item in its place in the list. A change by another device is not overwritten without a decision.
 *
 * @example
 * <Row isEdited><EditRow rows={ideaRows} base={edit.base} current={idea} fields={fields} /></Row>
 */
export function EditRow<Id extends string | number, Item extends { id: Id }, Name extends string>({
  rows,
  base,
  current,
  fields,
  messages,
}: Props<Id, Item, Name>) {
  const { t } = useLanguage()
  const { id } = base
  const mine = rows.edits.use(id)?.fields ?? rows.valuesOf(base)
  const close = () => {
    rows.edits.forget(id)
  }
  /** The version that the service had when it refused to save. */
  const [found, setFound] = useState<Item>()
  const [isDeleted, setDeleted] = useState(false)
  const conflict = useRef<HTMLDivElement>(null)

  const newest = rows.isSame(current, base) ? found : current
  const theirs = newest && !rows.isSame(newest, mine) ? newest : undefined

  const save = useMutation({
    scope: rows.scopeOf(id),
    /** Saves if the item still is the version that the person has seen. */
    mutationFn: async ({ seen, values }: Save<Name>) => {
      if (isDeleted) return rows.create(values, base)
      // Without an entity tag, the page shows the item of the list, which can be older than the item of the service.
      const version = seen === base && base.etag ? base : await rows.get(id)
      if (!rows.isSame(version, seen)) throw new ORPCError('PRECONDITION_FAILED')
      return rows.update(values, id, { context: { headers: { 'if-match': version.etag ?? '*' } } })
    },
    onSuccess: async (saved, { values }) => {
      await rows.refresh()
      // The person has continued to write during the request.
      const written = rows.edits.get(id)?.fields
      if (written && written !== values && saved.id === id)
        rows.edits.keep(id, { base: saved, fields: written })
      else close()
    },
    onError: async (error, { values }) => {
      if (!explained.includes(codeOf(error) ?? '')) return
      void rows.refresh()
      try {
        const item = await rows.get(id)
        if (rows.isSame(item, values)) close()
        else setFound(item)
      } catch (cause) {
        setDeleted(codeOf(cause) === 'NOT_FOUND')
      }
    },
  })

  return (
    <EditForm
      rules={fields}
      onClose={close}
      action={isDeleted ? (messages?.saveAsNew ?? t('saveAsNew')) : t('save')}
      isPending={save.isPending}
      isPaused={save.isPaused}
      error={explained.includes(codeOf(save.error) ?? '') ? undefined : save.error}
      onSubmit={() => {
        if (theirs && !isDeleted) conflict.current?.focus()
        else save.mutate({ seen: base, values: mine })
      }}
    >
      <Fields
        fields={fields}
        values={mine}
        onValues={(values) => {
          rows.edits.keep(id, { base, fields: values })
        }}
      />
      {isDeleted ? (
        <p role="alert">{messages?.deleted ?? t('deletedElsewhere')}</p>
      ) : (
        theirs && (
          <Conflict
            ref={conflict}
            message={messages?.changed ?? t('changedElsewhere')}
            mine={<Version fields={fields} values={mine} />}
            theirs={<Version fields={fields} values={rows.valuesOf(theirs)} />}
            isPending={save.isPending}
            onKeep={() => {
              save.mutate({ seen: theirs, values: mine })
            }}
            onTake={close}
          />
        )
      )}
    </EditForm>
  )
}

interface VersionProps<Name extends string> {
  fields: FieldsOptions<Name>
  values: FieldValues<Name>
}

/** A version of an item: its title with the chosen values, and its other texts. */
function Version<Name extends string>({ fields, values }: VersionProps<Name>) {
  const [first, ...others] = namesOf(fields)
  const choices = others.flatMap(
    (name) => fields[name].options?.find(([value]) => value === values[name]) ?? [],
  )
  const texts = others.filter((name) => !fields[name].options && values[name])
  return (
    <>
      <p>
        <strong>
          <bdi>{first && values[first]}</bdi>
        </strong>
        {choices.map(([value, text]) => (
          <span key={value}>
            {' '}
            <small className="badge">{text}</small>
          </span>
        ))}
      </p>
      {texts.map((name) => (
        <p key={name} className="text" dir="auto">
          {values[name]}
        </p>
      ))}
    </>
  )
}
