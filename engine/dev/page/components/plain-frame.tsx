import type { ReactNode } from 'react'
import { Link } from 'wouter'

import { useDefinition } from '../definition.ts'

/** The name of the application, which links to the start page. */
export function Brand() {
  const { name } = useDefinition()
  return (
    <p className="brand">
      <Link href="/">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <span>{name}</span>
      </Link>
    </p>
  )
}

function Title() {
  const { name } = useDefinition()
  return <h1 className="hidden">{name}</h1>
}

/** The frame while the texts or the session are loading. index.html has the same header. */
export const PlainFrame = ({ children }: { children: ReactNode }) => (
  <>
    <header>
      <div className="bar">
        <Brand />
      </div>
    </header>
    <main>
      <Title />
      {children}
    </main>
  </>
)
