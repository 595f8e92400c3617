import { QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'

import { queryClient } from '../../engine/dev/page/query-client.ts'
import { LanguageProvider } from '../../engine/dev/page/language.tsx'
import { watchSession } from '../../engine/dev/page/session-changes.ts'
import { applyTheme } from '../../engine/dev/page/theme.ts'
import './main.css'
import { ReferencePage } from './page.tsx'
import { referenceTexts } from './texts.ts'

const ofViews = [referenceTexts]

applyTheme()
const root = document.getElementById('page')
if (root) {
  watchSession(root)
  const page = createElement(ReferencePage)
  createRoot(root).render(
    createElement(QueryClientProvider, {
      client: queryClient,
      children: createElement(LanguageProvider, {
        ofViews,
        ofFrame: undefined,
        fallback: null,
        children: page,
      }),
    }),
  )
}
