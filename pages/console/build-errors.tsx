import { useQuery } from '@tanstack/react-query'

import { overviewQuery } from './client.ts'
import { Code } from './code/copy.tsx'
import { EditorSelect, SourceLink } from './editor.tsx'

/** The errors of the last build of `tallystick dev`, in all views. */
export function BuildErrors() {
  const { data } = useQuery(overviewQuery)
  const errors = data?.buildErrors ?? []
  if (errors.length === 0) return null
  return (
    <section className="problem" role="alert" aria-label="Build errors">
      <p className="row">
        <strong className="grow">The build failed. The previous version of the service continues.</strong>
        <EditorSelect />
      </p>
      {errors.map(({ message, position, text }, index) => (
        <div key={index}>
          <p>{message}</p>
          {position && (
            <p>
              <SourceLink position={position} />
            </p>
          )}
          {text && <Code text={text} name="the line" />}
        </div>
      ))}
    </section>
  )
}
