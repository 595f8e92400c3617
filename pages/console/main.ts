import { QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'

import { Console } from './console.tsx'
import './main.css'
import { queryClient } from './client.ts'

// The answer at `/`, which has no cookie, goes on to this folder: engine/console/closed-page.ts.
localStorage.setItem('folder', location.pathname)

const page = document.getElementById('page')
if (page)
  createRoot(page).render(createElement(QueryClientProvider, { client: queryClient }, createElement(Console)))
