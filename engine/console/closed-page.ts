import { createHash } from 'node:crypto'

import { POLICY } from '../http/endpoints/files.ts'

/**
 * Goes on to the path of the console if this browser has opened it before, so that other pages can link to its origin. The browser sends
 * the cookie only below this path, so that `/` is always answered without it. Only pages of this origin can read the storage, and the path
 * is useless without the cookie.
 */
const OPEN_SCRIPT = `const folder = localStorage.getItem('folder')
if (folder && location.pathname === '/') location.replace(folder)`

export const CLOSED_POLICY = POLICY.replace(
  "script-src 'self'",
  `script-src 'sha256-${createHash('sha256').update(OPEN_SCRIPT).digest('base64')}'`,
)

/** The answer without a cookie. Without styles, because the files of the console need the cookie. */
export const closedPage = (origin: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>The console is closed</title>
<script>${OPEN_SCRIPT}</script>
<h1>The console is closed in this browser</h1>
<p>The service prints the address of the console on its terminal. Open the newest address, which looks like this:</p>
<pre>${origin}/?key=…</pre>
<p>An address opens the console once. The browser then has access for twelve hours, and the terminal shows the next address.</p>
<p>If the terminal shows no address, start the service again: <code>npm run dev</code></p>
</html>`
