import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { toId } from 'tallystick-contract/internal'

import { queryClient } from './query-client.ts'
import { sessionQuery } from './auth.ts'
import { ignoreBusyButtons } from './components/focus.ts'
import { PlainFrame } from './components/plain-frame.tsx'
import { Skeleton } from './components/skeleton.tsx'
import { DefinitionContext, type PageDefinition, type View } from './definition.ts'
import { Frame } from './frame.tsx'
import { LanguageProvider } from './language.tsx'
import { watchSession } from './session-changes.ts'
import { applyTheme } from './theme.ts'
import { askBeforeLeaving, reloadAfterFailedImport } from './unsaved.ts'

/** In English, because no catalogue is loaded. */
const withoutTexts = (
  <PlainFrame>
    <Skeleton loading="Loading…" stillTrying="Still trying…" />
  </PlainFrame>
)

/** Shows the page of an application in the element `#page`. */
export function startPage<const Views extends readonly View[]>({ id, ...definition }: PageDefinition<Views>) {
  const complete = { ...definition, id: id ?? toId(definition.name) }
  const { texts, views } = definition
  const ofViews = [...new Set([texts, ...views.map((view) => view.texts)])].filter(
    (ofView) => ofView !== undefined,
  )
  applyTheme()
  reloadAfterFailedImport()
  askBeforeLeaving()
  ignoreBusyButtons()
  // Requested now, because the first view needs the session. The frame shows the error of this request.
  queryClient.query(sessionQuery).catch(() => undefined)

  const root = document.getElementById('page')
  if (!root) throw new Error('index.html has no element #page')
  watchSession(root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <DefinitionContext value={complete}>
          <LanguageProvider ofViews={ofViews} ofFrame={texts} fallback={withoutTexts}>
            <Frame />
          </LanguageProvider>
        </DefinitionContext>
      </QueryClientProvider>
    </StrictMode>,
  )
}
