import type { ReactNode } from 'react'

/**
 * Returns whether the page is in development: `tallystick dev`, or a service with the console for developers. The service marks the
 * HTML (engine/html/development.ts), because `npm start` serves the same files in development and in production.
 *
 * @example
 * {isDevelopment() && <Developers />}
 */
export const isDevelopment = () => document.documentElement.hasAttribute('data-development')

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
