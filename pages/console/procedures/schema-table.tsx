import { Fragment } from 'react'

import { Code } from '../code/copy.tsx'
import { Marked } from '../code/marked.tsx'
import { type Bounds, hasBounds, objectsOf, type SchemaField, typeOf } from './schema-fields.ts'
import { useTexts } from './texts.ts'

interface Props {
  id: string
  /** The heading: `Input`. */
  title: string
  /** The address of the heading. */
  href?: string | undefined
  schema: Record<string, unknown>
  example: unknown
  isExampleOpen?: boolean
}

/** A schema as tables of fields, with an example and the JSON Schema. */
export function SchemaTable({ id, title, href, schema, example, isExampleOpen }: Props) {
  const { t } = useTexts()
  const objects = objectsOf(schema)
  const type = typeOf(schema)
  return (
    <div className="schema" id={id}>
      <h4>
        <Title text={title} href={href} />
      </h4>
      {(type !== 'object' || objects.length === 0) && (
        <p className="muted">
          <code>{type}</code>
        </p>
      )}
      {objects.map((fields, index) => (
        <Fragment key={index}>
          {objects.length > 1 && <Alternative fields={fields} />}
          <Fields fields={fields} label={t('fieldsOf', { name: title })} />
        </Fragment>
      ))}
      {example !== undefined && (
        <details open={isExampleOpen}>
          <summary>{t('example')}</summary>
          <Code text={JSON.stringify(example, null, 2)} name={`${t('example')}: ${title}`} />
        </details>
      )}
      <details>
        <summary>JSON Schema</summary>
        <Code text={JSON.stringify(schema, null, 2)} name={`JSON Schema: ${title}`} />
      </details>
    </div>
  )
}

/** Names one of several objects by the field that has one value: `topic: "tasks"`. */
function Alternative({ fields }: { fields: readonly SchemaField[] }) {
  const field = fields.find(({ type }) => /^"[^"]*"$/.test(type))
  return (
    field && (
      <p className="caption">
        <code>
          {field.name}: {field.type}
        </code>
      </p>
    )
  )
}

/** The text of a heading, as a link if the heading has an address. */
export const Title = ({ text, href }: { text: string; href: string | undefined }) =>
  href === undefined ? text : <a href={href}>{text}</a>

/** Leaves out the columns in which no field has a text. */
function Fields({ fields, label }: { fields: readonly SchemaField[]; label: string }) {
  const { t } = useTexts()
  const columns = {
    bounds: fields.some(hasBounds),
    description: fields.some(({ description }) => description),
  }
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={label}>
      <table className="fields">
        <thead>
          <tr>
            <th scope="col">{t('field')}</th>
            <th scope="col">{t('type')}</th>
            {columns.bounds && <th scope="col">{t('bounds')}</th>}
            {columns.description && <th scope="col">{t('meaning')}</th>}
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <Row key={field.name} field={field} columns={columns} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  field: SchemaField
  columns: { bounds: boolean; description: boolean }
}

function Row({ field, columns }: RowProps) {
  const { t } = useTexts()
  const { name, type, isRequired, bounds, description, objects } = field
  const label = t('fieldsOf', { name })
  return (
    <>
      <tr>
        <th scope="row">
          <code>{name}</code>
          {isRequired && <small className="required"> {t('required')}</small>}
        </th>
        <td>
          <code>{type}</code>
        </td>
        {columns.bounds && (
          <td>
            <BoundTexts bounds={bounds} />
          </td>
        )}
        {columns.description && (
          <td>
            <Marked text={description} />
          </td>
        )}
      </tr>
      {objects.length > 0 && (
        <tr>
          <td colSpan={4} className="nested">
            <details>
              <summary>{label}</summary>
              {objects.map((fields, index) => (
                <Fields key={index} fields={fields} label={label} />
              ))}
            </details>
          </td>
        </tr>
      )}
    </>
  )
}

/** The bounds of a value in the words of the language. */
export function BoundTexts({ bounds: { characters, items, value, pattern, initial } }: { bounds: Bounds }) {
  const { t, language } = useTexts()
  // Keeps the order of a sign and its number in texts from right to left.
  const isolate = (range: string) => (language === 'en' || !range ? range : `\u2066${range}\u2069`)
  const words = [
    isolate(value),
    characters && t('characters', { range: isolate(characters) }),
    items && t('items', { range: isolate(items) }),
    initial && t('defaultValue', { value: initial }),
  ].filter(Boolean)
  return (
    <>
      {words.join(', ')}
      {pattern && (
        <>
          {words.length > 0 && ', '}
          <code>{pattern}</code>
        </>
      )}
    </>
  )
}
