import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse as parseYaml } from 'yaml'

import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const RUNBOOK = 'docs/runbook.md'
/** The name of the scrape job in docs/operation.md. Prometheus adds the labels of a target to each series. */
const JOB = 'tallystick'
const TARGET_LABELS = ['job', 'instance']

interface Panel {
  title: string
  targets?: { expr: string; legendFormat: string }[]
}
interface Dashboard {
  panels: Panel[]
  templating: { list: { type: string; definition?: string }[] }
}
interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook_url: string }
}

const dashboard = JSON.parse(readFileSync('deploy/grafana-dashboard.json', 'utf8')) as Dashboard
const rules = (
  parseYaml(readFileSync('deploy/alerts.yml', 'utf8')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules)
const runbook = readFileSync(RUNBOOK, 'utf8')

const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ source: `the panel “${title}”`, expr, legendFormat })),
)
/** Inline code of the runbook that begins with the name of a metric. */
const namedInRunbook = Array.from(runbook.matchAll(/`([^`\n]*)`/g), ([, code = '']) => code).filter((code) =>
  /\b(tallystick|nodejs|process)_\w|^up$/.test(code),
)
const expressions = [
  ...queries,
  ...rules.map(({ alert, expr }) => ({ source: `the alert ${alert}`, expr })),
  ...namedInRunbook.map((expr) => ({ source: 'the runbook', expr })),
]

interface Matcher {
  label: string
  operator: string
  value: string
}
interface Selector {
  metric: string
  matchers: Matcher[]
}

/** Returns the selectors and the grouping labels of an expression of PromQL. Throws if the expression is invalid. */
function analyze(expression: string) {
  // Grafana replaces its variables before Prometheus reads the expression.
  const text = expression.replaceAll('$__rate_interval', '5m')
  const selectors: Selector[] = []
  const grouping: string[] = []
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const own = text.slice(from, to)
      if (type.isError) throw new Error(`Invalid at ${from}, before “${text.slice(from)}”: ${text}`)
      if (type.name === 'VectorSelector') selectors.push({ metric: own.replace(/{.*/s, ''), matchers: [] })
      if (type.name === 'GroupingLabels') grouping.push(...own.slice(1, -1).split(/[\s,]+/))
      if (type.name === 'UnquotedLabelMatcher') {
        const [label = '', operator = '', value = ''] = ['LabelName', 'MatchOp', 'StringLiteral'].map(
          (name) => {
            const child = node.getChild(name)
            return child ? text.slice(child.from, child.to) : ''
          },
        )
        selectors.at(-1)?.matchers.push({ label, operator, value: value.slice(1, -1) })
      }
    },
  })
  return { selectors, grouping }
}

/** The values of each label, for each name of a series in the text format of Prometheus. */
function readSeries(text: string) {
  const series = new Map<string, Map<string, Set<string>>>()
  for (const line of text.split('\n')) {
    const [, name = '', labels = ''] = /^([a-z]\w*)(?:{(.*)})? \S+$/.exec(line) ?? []
    if (name === '') continue
    const known = series.get(name) ?? new Map<string, Set<string>>()
    series.set(name, known)
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="(.*?)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value))
  }
  return series
}

/** Returns why a selector finds nothing in the metrics, or undefined. */
function findMistake({ metric, matchers }: Selector, series: ReturnType<typeof readSeries>) {
  const labels = metric === 'up' ? new Map<string, Set<string>>() : series.get(metric)
  if (!labels) return `There is no metric ${metric}`
  for (const { label, operator, value } of matchers) {
    if (label === 'job' && value !== JOB) return `The job is not ${value}`
    if (TARGET_LABELS.includes(label)) continue
    const values = [...(labels.get(label) ?? [])]
    if (values.length === 0) return `${metric} has no label ${label}`
    for (const choice of operator.endsWith('~') ? value.split('|') : [value])
      if (
        !values.some((each) =>
          operator.endsWith('~') ? new RegExp(`^(${choice})$`).test(each) : each === choice,
        )
      )
        return `${metric} has no ${label} ${choice}`
  }
  return undefined
}

let series: ReturnType<typeof readSeries>
beforeAll(async () => {
  const METRICS_PORT = String(await freePort())
  // Without permitted streams, live.watch answers with 503: a status of 5xx.
  const service = await startService({ METRICS_PORT, MAX_STREAMS: '0' })
  const server = await service.services.metrics?.serve()
  afterAll(() => {
    server?.close().closeAllConnections()
  })
  const send = (path: string, body?: object) =>
    fetch(service.origin + path, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const codes = await send('/api/auth/email-otp/send-verification-otp', {
    email: newEmail(),
    type: 'sign-in',
  })
  const stream = await send('/api/live?topics=counter')
  const agent = await send('/mcp', {})
  expect([codes, stream, agent].map(({ status }) => status)).toEqual([200, 503, 401])
  await Promise.all([codes, stream, agent].map((response) => response.text()))
  // The series of garbage collection exist after the first one.
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  await vi.waitFor(async () => {
    collectGarbage()
    series = readSeries(await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text())
    const operations = [...(series.get('tallystick_http_requests_total')?.get('operation') ?? [])]
    expect(operations).toEqual(
      expect.arrayContaining(['live.watch', '/mcp', '/api/auth/email-otp/send-verification-otp']),
    )
    expect([...series.keys()]).toContain('nodejs_gc_duration_seconds_sum')
  }, PATIENCE)
})

describe('monitoring', () => {
  test.each(expressions)('$source finds series: $expr', ({ expr }) => {
    const { selectors, grouping } = analyze(expr)

    expect(selectors.length).toBeGreaterThan(0)
    expect(selectors.map((selector) => findMistake(selector, series)).filter(Boolean)).toEqual([])
    const labels = selectors.flatMap(({ metric }) => [...(series.get(metric)?.keys() ?? [])])
    expect([...labels, ...TARGET_LABELS]).toEqual(expect.arrayContaining(grouping))
  })

  test.each(queries)(
    '$source names series by labels that they have: $legendFormat',
    ({ expr, legendFormat }) => {
      const { selectors, grouping } = analyze(expr)
      const used = Array.from(legendFormat.matchAll(/{{(\w+)}}/g), ([, label = '']) => label)
      const own = selectors.flatMap(({ metric }) => [...(series.get(metric)?.keys() ?? [])])

      // With WORKERS, each series has the label `worker`. Test: test/process.slow.test.ts.
      const known = grouping.length > 0 ? grouping : [...own, ...TARGET_LABELS, 'worker']
      expect(known).toEqual(expect.arrayContaining(used))
    },
  )

  test('the dashboard lists instances by a metric that exists', () => {
    const definitions = dashboard.templating.list.filter(({ type }) => type === 'query')

    expect(definitions).toHaveLength(1)
    for (const { definition = '' } of definitions) {
      const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? []
      expect([series.has(metric), TARGET_LABELS.includes(label)]).toEqual([true, true])
    }
  })

  test('docs/operation.md configures the job that the expressions name', () => {
    expect(readFileSync('docs/operation.md', 'utf8')).toContain(`job_name: ${JOB}\n`)
  })

  test('every alert has a section in the runbook, and every section an alert', () => {
    const sections = Array.from(runbook.matchAll(/^## (.+)$/gm), ([, title]) => title)

    expect(sections).toEqual(rules.map(({ alert }) => alert))
  })

  test.each(rules)('the alert $alert has a severity, a summary and the address of its section', (rule) => {
    const { alert, labels, annotations } = rule

    expect(['critical', 'warning']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/^\S.*\.$/)
    expect(annotations.runbook_url).toBe(`${RUNBOOK}#${alert.toLowerCase()}`)
  })

  test('finds mistakes in expressions', () => {
    const find = (expression: string) =>
      analyze(expression).selectors.map((selector) => findMistake(selector, series))

    expect(() => analyze('sum(rate(up[5m])')).toThrow('Invalid')
    expect(find('tallystick_nothing')).toEqual(['There is no metric tallystick_nothing'])
    expect(find('tallystick_live_streams{color="red"}')).toEqual([
      'tallystick_live_streams has no label color',
    ])
    expect(find('tallystick_limits_hit_total{limit=~"codes|guesses"}')).toEqual([
      'tallystick_limits_hit_total has no limit guesses',
    ])
    expect(find('up{job="another"}')).toEqual(['The job is not another'])
    expect(find('rate(tallystick_limits_hit_total{instance="a", limit="codes"}[5m])')).toEqual([undefined])
  })
})
