import '@picocss/pico/css/pico.classless.min.css'
import './styles.css'

import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

import { orpc, queryClient } from './api.ts'
import { sessionQuery } from './auth.ts'
import { reloadAfterFailedImport } from './failed-imports.ts'
import { LanguageProvider } from './language.tsx'
import { Page } from './page.tsx'
import { watchSession } from './session-changes.ts'
import { applyTheme } from './theme.ts'
import { askBeforeLeaving } from './unsaved.ts'

applyTheme()
reloadAfterFailedImport()
askBeforeLeaving()
// Requested now, because the first view needs the session before it can show the counter.
// The views show the errors of these requests.
queryClient.query(sessionQuery).catch(() => undefined)
queryClient.query(orpc.counter.get.queryOptions()).catch(() => undefined)

const root = document.getElementById('page')
if (!root) throw new Error('index.html has no element #page')
watchSession(root)
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <LanguageProvider>
        <Page />
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
)
