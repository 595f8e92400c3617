import { useMutation, type UseMutationOptions } from '@tanstack/react-query'
import { useState } from 'react'

import { createDrafts, ownerOfDrafts } from '../../drafts.ts'
import { Problem } from '../problem.tsx'
import { Fields, type FieldsOptions, type FieldValues, namesOf, valuesOf } from './fields.tsx'

/** The texts of new items, by the place of the form. */
const drafts = createDrafts<string, FieldValues<string>>()

interface Props<Name extends string, Input, Output> {
  /** The name of the draft, for example of the resource: the text outlives the view. */
  name: string
  /** What the new item is in, for example the id of its parent. Forms in other places have other drafts. */
  within?: string | number
  className?: string
  /** The fields by their names in the contract. Fields after the first one open below while a person writes. */
  fields: FieldsOptions<Name>
  /** Name of the button. */
  action: string
  /** Adds the item: `orpc.ideas.create.mutationOptions()`. */
  mutation: Omit<UseMutationOptions<Output, Error, Input>, 'onMutate' | 'onError'>
  /** Converts the texts in the fields, without blanks around the first one, to the input of the call. */
  toInput: (values: FieldValues<Name>) => Input
  onAdd?: () => void
}

/**
 * The form for a new item: one line. Further fields open below the line. Submitting empties the form, and the text returns if the
 * call fails.
 *
 * @example
 * <Composer name="ideas" fields={fields} action={t('addIdea')} mutation={add} toInput={({ title }) => ({ title })} />
 */
export function Composer<Name extends string, Input extends object, Output>({
  name,
  within = '',
  className = '',
  fields,
  action,
  mutation,
  toInput,
  onAdd,
}: Props<Name, Input, Output>) {
  const names = namesOf(fields)
  const [first, ...others] = names
  const place = `${name}/${within}`
  const values = valuesOf(fields, drafts.use(place))
  // Stays open, because the list must not move while a person presses a button of the list.
  const [isOpen, setOpen] = useState(others.some((each) => values[each]))
  const keep = (next: FieldValues<Name>) => {
    if (names.some((each) => next[each])) drafts.keep(place, next)
    else drafts.forget(place)
  }
  const add = useMutation<Output, Error, Input, { owner: string | undefined; from: string }>({
    ...mutation,
    onMutate: () => ({ owner: ownerOfDrafts(), from: place }),
    // Returns the text to the person, unless the person has entered another text in the meantime.
    onError: (_, input, sent) => {
      if (sent && sent.owner === ownerOfDrafts() && !drafts.get(sent.from))
        drafts.keep(sent.from, valuesOf(fields, input))
    },
  })
  if (first === undefined) return null
  return (
    <>
      <form
        className={`composer ${className}`}
        onFocus={() => {
          setOpen(true)
        }}
        onSubmit={(event) => {
          event.preventDefault()
          const title = values[first].trim()
          if (!title) return
          add.mutate(toInput({ ...values, [first]: title }))
          drafts.forget(place)
          onAdd?.()
        }}
      >
        <Fields isNew fields={fields} names={isOpen ? names : [first]} values={values} onValues={keep} />
        <button aria-keyshortcuts="Control+Enter Meta+Enter">{action}</button>
      </form>
      <Problem error={add.error} fields={fields} />
    </>
  )
}
