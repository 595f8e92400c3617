import type { FieldRules } from './bounds.ts'
import { Choice } from './choice.tsx'
import { Field, TextField } from './field.tsx'

/** A field of a form. */
export interface FieldOptions extends FieldRules {
  required?: boolean
  /** The number of lines of a field for several lines. */
  rows?: number
  /** The values of a list, each with its text. */
  options?: readonly (readonly [value: string, text: string])[]
}

/** The fields by their names in the contract. The first one is the title of the item. */
export type FieldsOptions<Name extends string> = Readonly<Record<Name, FieldOptions>>

/** The texts in the fields. */
export type FieldValues<Name extends string> = Readonly<Record<Name, string>>

/** Returns the names of the fields, in the order of the form. */
export const namesOf = <Name extends string>(fields: FieldsOptions<Name>) => Object.keys(fields) as Name[]

/** Returns the text of a value in a field. */
export const textOf = (value: string | number | null | undefined) => String(value ?? '')

/** Returns the texts of the fields of an item. A field without a value is empty. */
export const valuesOf = <Name extends string>(fields: FieldsOptions<Name>, item: object = {}) =>
  Object.fromEntries(
    namesOf(fields).map((name) => [name, textOf(Reflect.get(item, name))]),
  ) as FieldValues<Name>

interface Props<Name extends string> {
  fields: FieldsOptions<Name>
  /** The names of the visible fields. By default, all. */
  names?: readonly Name[]
  values: FieldValues<Name>
  onValues: (values: FieldValues<Name>) => void
  /** The form of a new item: labels inside of the empty fields, and a key that moves the focus to the first field. */
  isNew?: boolean
}

/** The fields of a form, by their rules. The first field is required, and has the focus in the form of an existing item. */
export function Fields<Name extends string>({
  fields,
  names = namesOf(fields),
  values,
  onValues,
  isNew = false,
}: Props<Name>) {
  const [first] = namesOf(fields)
  return names.map((name) => {
    const { rows, options, required = name === first, ...rules } = fields[name]
    const onValue = (value: string) => {
      onValues({ ...values, [name]: value })
    }
    const shared = {
      ...rules,
      required,
      isCompact: isNew && rules.type === undefined,
      dir: 'auto',
      value: values[name],
      onValue,
    }
    if (options)
      return (
        <Choice key={name} label={rules.label} value={values[name]} options={options} onChoice={onValue} />
      )
    if (rows !== undefined) return <TextField key={name} {...shared} rows={rows} />
    const firstOf = isNew ? { autoComplete: 'off', 'aria-keyshortcuts': 'n' } : { autoFocus: true }
    return <Field key={name} {...shared} {...(name === first && firstOf)} />
  })
}
