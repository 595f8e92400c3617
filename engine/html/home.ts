import { htmlEscape } from 'escape-goat'

import { frame } from './page.ts'

interface Application {
  name: string
  description: string
}

/**
 * The page at `/` of an application without a built page. For developers, so the page has no translations.
 * `mcpUrl` is the address for agents.
 */
export const homePage = ({ name, description }: Application, mcpUrl: string) =>
  frame(
    { language: 'en', direction: 'ltr' },
    {
      title: name,
      header: name,
      main: htmlEscape`<h1>${name}</h1>
<p>${description}</p>
<ul>
<li><a href="/docs">API reference</a></li>
<li><a href="/api/openapi.json">OpenAPI document</a></li>
<li>Address for AI agents (MCP): <code>${mcpUrl}</code></li>
</ul>
<p class="details">The application has no page, or its page is not built.</p>
`,
    },
  )
