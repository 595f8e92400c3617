import type { ReactNode } from 'react'

import { isDevelopment } from '../development.ts'

/**
 * A part of the page for developers, in English as the console, with links to the console and to the reference. Shows nothing in
 * production.
 *
 * @example
 * <ForDevelopers>Next: edit app/views/home.tsx</ForDevelopers>
 */
export const ForDevelopers = ({ children }: { children: ReactNode }) =>
  isDevelopment() && (
    <aside className="for-developers" aria-label="For developers" lang="en" dir="ltr">
      {children}
      <p>
        <a href="/api/development/console" target="_blank" rel="noreferrer">
          Console
        </a>
        {' · '}
        <a href="/docs">API reference</a>
      </p>
    </aside>
  )
