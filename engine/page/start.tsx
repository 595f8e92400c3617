import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { toId } from 'tallystick-contract'

import { queryClient } from './api.ts'
import { sessionQuery } from './auth.ts'
import { DefinitionContext, type PageDefinition } from './definition.ts'
import { reloadAfterFailedImport } from './failed-imports.ts'
import { Frame } from './frame.tsx'
import { LanguageProvider } from './language.tsx'
import { watchSession } from './session-changes.ts'
import { applyTheme } from './theme.ts'
import { askBeforeLeaving } from './unsaved.ts'

/** Shows the page of an application in the element `#page`. */
export function startPage<Messages extends string>({ texts, id, ...definition }: PageDefinition<Messages>) {
  applyTheme()
  reloadAfterFailedImport()
  askBeforeLeaving()
  // Requested now, because the first view needs the session. The frame shows the error of this request.
  queryClient.query(sessionQuery).catch(() => undefined)

  const root = document.getElementById('page')
  if (!root) throw new Error('index.html has no element #page')
  watchSession(root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <LanguageProvider load={texts.load}>
          <DefinitionContext value={{ ...definition, id: id ?? toId(definition.name) }}>
            <Frame />
          </DefinitionContext>
        </LanguageProvider>
      </QueryClientProvider>
    </StrictMode>,
  )
}
