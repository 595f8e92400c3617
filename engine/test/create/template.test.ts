import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'

import { readTemplateFiles, renderTemplate } from '../../dev/create/template.ts'
import { addCommands } from '../../dev/project/commands.ts'
import { addOperatorCommands } from '../../operator/commands.ts'

const template = readTemplateFiles('engine/dev/create/template')
const { scripts } = JSON.parse(template.get('package.json') ?? '') as { scripts: Record<string, string> }

/** Commands of engine/cli/, which need a contract or a build. */
const OF_CALLERS = ['call', 'create-token', 'login', 'start', '--help']

function listCommands() {
  const program = new Command()
  addCommands(program)
  addOperatorCommands(program, {
    loadApp: () => Promise.reject(new Error()),
    environment: {},
    print: (line) => line,
  })
  return [...program.commands.map((command) => command.name()), ...OF_CALLERS]
}

const wordsAfter = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, word = '']) => word)

describe.each(['AGENTS.md', 'README.md'])('%s of a project', (file) => {
  const text = template.get(file) ?? ''

  test('names only scripts of package.json and commands that exist', () => {
    const named = wordsAfter(text, /npm (?:--prefix \S+ )?run ([\w:-]+)/g)
    const commands = wordsAfter(text, /npx tallystick ([\w-]+)/g)

    expect(named.length).toBeGreaterThan(2)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
    expect(commands.length).toBeGreaterThan(2)
    expect(commands.filter((name) => !listCommands().includes(name))).toEqual([])
  })

  test('names only files of the template, or of the resource in its examples', () => {
    const paths = wordsAfter(text, /`((?:app|contract|db|src|test|\.github)\/[\w./-]*)`/g)

    const missing = paths
      .map((path) => path.replace('loans', 'ideas'))
      .filter((path) => ![...template.keys()].some((each) => each.startsWith(path)))
    expect(paths.length).toBeGreaterThan(4)
    expect(missing).toEqual([])
  })

  test('is complete without the sample resource', () => {
    const bare = renderTemplate(template, { name: 'Lendery', id: 'lendery', bare: true }).get(file) ?? ''

    expect(bare).not.toMatch(/idea/i)
    expect(bare.split('\n').filter((line) => line.startsWith('#'))).toHaveLength(
      text.split('\n').filter((line) => line.startsWith('#')).length,
    )
  })
})

describe('the workflow of a project', () => {
  const { jobs } = parseYaml(template.get('.github/workflows/check.yml') ?? '') as {
    jobs: { check: { steps: { uses?: string; run?: string }[] } }
  }

  test('uses the actions of this repository, by their hashes', () => {
    const own = readFileSync('.github/workflows/release.yml', 'utf8')
    const actions = jobs.check.steps.flatMap(({ uses }) => uses ?? [])

    expect(actions).toHaveLength(2)
    for (const action of actions) {
      expect(action).toMatch(/@[0-9a-f]{40}$/)
      expect(own).toContain(action)
    }
  })
})
