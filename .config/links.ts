import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import GithubSlugger from 'github-slugger'
import { marked, type Token } from 'marked'

// Checks the relative links and images of all Markdown files in a folder, by default this repository: files must exist, and
// headings as GitHub names their anchors. Prints broken links, and exits with 1 if there are any.
const [folder = '.'] = process.argv.slice(2)

interface Page {
  targets: string[]
  anchors: Set<string>
}

const pages = new Map<string, Page>()

function readPage(path: string): Page {
  const known = pages.get(path)
  if (known) return known
  const slugger = new GithubSlugger()
  const page: Page = { targets: [], anchors: new Set() }
  pages.set(path, page)
  void marked.walkTokens(marked.lexer(readFileSync(path, 'utf8')), (token) => {
    if (token.type === 'heading') page.anchors.add(slugger.slug(textOf(token.tokens ?? [])))
    else if (token.type === 'link' || token.type === 'image') page.targets.push(String(token.href))
    else if (token.type === 'html')
      for (const [, target = ''] of token.raw.matchAll(/(?:src|href)="([^"]*)"/g)) page.targets.push(target)
  })
  return page
}

/** Returns the text of a heading without its marks. */
const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => ('tokens' in token && token.tokens ? textOf(token.tokens) : plainText(token)))
    .join('')

const plainText = (token: Token) => ('text' in token ? String(token.text) : token.raw)

/** Returns the problem of a link, or undefined. */
function findProblem(path: string, target: string) {
  if (/^[a-z][a-z\d+.-]*:/i.test(target)) return undefined
  const [file = '', anchor] = decodeURI(target).split('#')
  const linked = file === '' ? path : join(dirname(path), file)
  if (!existsSync(linked)) return 'no such file'
  if (anchor !== undefined && linked.endsWith('.md') && !readPage(linked).anchors.has(anchor))
    return 'no such heading'
  return undefined
}

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: folder,
  encoding: 'utf8',
})
const files = [...new Set(listed.split('\n').filter(Boolean))]
  .map((file) => join(folder, file))
  .filter((path) => existsSync(path))
const problems = files.flatMap((path) =>
  readPage(path).targets.flatMap((target) => {
    const problem = findProblem(path, target)
    return problem === undefined ? [] : [`${relative(folder, path)}: ${target}: ${problem}`]
  }),
)
for (const problem of problems) process.stderr.write(`${problem}\n`)
if (problems.length > 0) process.exitCode = 1
