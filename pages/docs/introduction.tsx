import type { ReactNode } from 'react'

import type { ProcedureDescription, ReferenceDocument } from '../../engine/openapi/procedure-description.ts'
import { Code } from '../console/code/copy.tsx'
import { Marked } from '../console/code/marked.tsx'
import { ErrorTable } from '../console/procedures/error-table.tsx'
import { isRecord } from '../console/procedures/schema.ts'
import { quote, toCurl } from '../console/procedures/snippets.ts'
import { addressOf, INTRODUCTION, type Section } from './address.ts'
import { sampleOf } from './sample.ts'
import { useReferenceTexts } from './texts.ts'

const JSON_TYPE = quote('content-type: application/json')

/** Returns the commands that sign in, and that call a procedure with the session. */
const toSignIn = (origin: string, account: ProcedureDescription | undefined) =>
  [
    `curl ${quote(`${origin}/api/auth/email-otp/send-verification-otp`)} \\`,
    `  -H ${JSON_TYPE} \\`,
    `  -d ${quote('{"email":"name@example.com","type":"sign-in"}')}`,
    `curl -c cookies.txt ${quote(`${origin}/api/auth/sign-in/email-otp`)} \\`,
    `  -H ${JSON_TYPE} \\`,
    `  -d ${quote('{"email":"name@example.com","otp":"123456"}')}`,
    ...(account ? [`curl -b cookies.txt ${quote(`${origin}${account.path}`)}`] : []),
  ].join('\n')

/** A call without a credential, an input and headers. */
const PLAIN = { isSignedIn: false, input: undefined, headers: {} }

/** Returns a procedure that anybody can call without an input: of the application, or else of the engine. */
const findFirstCall = (procedures: readonly ProcedureDescription[]) =>
  procedures.find(
    ({ access, method, isStream, input, mediaType }) =>
      access === 'public' && method === 'GET' && !isStream && !input?.required && mediaType === null,
  )

/** A section of the introduction. */
interface Topic {
  id: Section
  title: string
  text?: string
  /** Other English words that people search for. */
  keywords?: string
  /** The procedure to read next. */
  operation?: string | undefined
  content?: ReactNode
}

/** Returns what all procedures have in common, in the order of the page, without what the application does not have. */
function topicsOf(
  { info, tags, procedures }: ReferenceDocument,
  t: ReturnType<typeof useReferenceTexts>['t'],
): Topic[] {
  const origin = info.contact.url
  const find = (name: string) => procedures.find(({ operation }) => operation === name)
  const commonErrors = findCommonErrors(procedures)
  const error = procedures.flatMap(({ errors }) => errors).find(({ code }) => code === commonErrors[0]?.code)
  const list = procedures.find(({ input }) => isRecord(input?.properties) && 'cursor' in input.properties)
  const live = find('live.watch')
  const first = findFirstCall(procedures)
  const topics: (Topic | undefined)[] = [
    first && {
      id: 'first-call',
      title: t('firstCall'),
      keywords: 'quick start example',
      text: t('firstCallText'),
      operation: first.operation,
      content: (
        <Code text={toCurl({ ...PLAIN, origin, procedure: first })} name={t('firstCall')} language="shell" />
      ),
    },
    { id: 'resources', title: t('resources'), content: <Resources tags={tags} procedures={procedures} /> },
    {
      id: 'sign-in',
      title: t('signInTitle'),
      keywords: 'login authentication otp cookie session',
      text: t('signInText'),
      content: <Code text={toSignIn(origin, find('account.get'))} name={t('signInTitle')} language="shell" />,
    },
    {
      id: 'tokens',
      title: t('tokens'),
      keywords: 'api key bearer authorization authentication',
      text: t('tokensText'),
      operation: find('tokens.create')?.operation,
      content: <Code text={'authorization: Bearer $TOKEN'} name={t('token')} />,
    },
    {
      id: 'mcp',
      title: 'MCP',
      keywords: 'ai agents tools',
      text: t('agentsText'),
      content: <Code text={`${origin}/mcp`} name="MCP" />,
    },
    error && {
      id: 'errors',
      title: t('errors'),
      keywords: 'status codes problem details',
      text: t('errorsText'),
      content: (
        <>
          <Code text={JSON.stringify(error.example, null, 2)} name={t('errors')} />
          <ErrorTable
            errors={[{ code: 'BAD_REQUEST', status: 400, text: t('brokenInput') }, ...commonErrors]}
          />
        </>
      ),
    },
    list && {
      id: 'pages',
      title: t('pages'),
      keywords: 'pagination paging cursor limit next',
      text: t('pagesText'),
      operation: list.operation,
      content: <Code text={`Link: <${list.path}?limit=50&cursor=…>; rel="next"`} name={t('pages')} />,
    },
    {
      id: 'retries',
      title: t('retries'),
      keywords: 'rate limit throttling 429 idempotency etag concurrency',
      text: t('retriesText'),
    },
    live && {
      id: 'live-updates',
      title: t('live'),
      keywords: 'sse events stream subscribe realtime websocket',
      text: t('liveText', { operation: live.operation }),
      operation: live.operation,
      content: <Code text={`id: …\ndata: ${JSON.stringify(sampleOf(live.output))}`} name={t('event')} />,
    },
  ]
  return topics.filter((topic) => topic !== undefined)
}

/** The start of the reference. */
export function Introduction({ document: content }: { document: ReferenceDocument }) {
  const { t } = useReferenceTexts()
  const { title, version, description } = content.info
  return (
    <>
      <section>
        <h2>
          {title} <small className="muted">{version}</small>
        </h2>
        <p>
          <Marked text={description} />
        </p>
      </section>
      {topicsOf(content, t).map((topic) => (
        <TopicSection key={topic.id} topic={topic} />
      ))}
    </>
  )
}

interface LinksProps {
  document: ReferenceDocument
  search: string
  isCurrent: boolean
  onChoose: () => void
}

/** The link to the introduction, and to its sections: of the current introduction, or those that contain every word of a search. */
export function IntroductionLinks({ document: content, search, isCurrent, onChoose }: LinksProps) {
  const { t } = useReferenceTexts()
  const words = search.trim().toLowerCase().split(/\s+/)
  const found = topicsOf(content, t).filter(({ title, text, keywords }) =>
    words.every((word) => [title, text, keywords].join(' ').toLowerCase().includes(word)),
  )
  const start = { id: INTRODUCTION, title: t('introduction') }
  const links = search.trim() ? found : [start, ...(isCurrent ? found : [])]
  return (
    <ul>
      {links.map(({ id, title }) => (
        <li key={id}>
          <a
            href={addressOf(id)}
            aria-current={isCurrent && id === INTRODUCTION ? 'true' : undefined}
            onClick={onChoose}
          >
            {title}
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The resources, each with a link to its first procedure. */
function Resources({ tags, procedures }: Pick<ReferenceDocument, 'tags' | 'procedures'>) {
  return (
    <dl className="facts">
      {tags.map(({ name, description }) => {
        const first = procedures.find(({ resource }) => resource === name)
        return (
          <div key={name}>
            <dt>{first ? <a href={addressOf(first.operation)}>{name}</a> : name}</dt>
            <dd>
              <Marked text={description} />
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

/** Number of procedures that have a common error. */
const COMMON = 3

/** Returns the errors of several procedures by status, each with all of its messages. */
function findCommonErrors(procedures: readonly ProcedureDescription[]) {
  const errors = procedures.flatMap((procedure) => procedure.errors)
  return [...new Map(errors.map(({ code, status }) => [code, status]))]
    .map(([code, status]) => ({ code, status, same: errors.filter((error) => error.code === code) }))
    .filter(({ same }) => same.length >= COMMON)
    .map(({ code, status, same }) => ({
      code,
      status,
      text: <Marked text={[...new Set(same.map(({ message }) => message))].join(' · ')} />,
    }))
    .sort((a, b) => a.status - b.status)
}

function TopicSection({ topic: { id, title, text, operation, content } }: { topic: Topic }) {
  return (
    <section id={id}>
      <h3>
        <a href={`#${id}`}>{title}</a>
      </h3>
      {text && <p>{text}</p>}
      {content}
      {operation && (
        <p>
          <a href={addressOf(operation)}>{operation}</a>
        </p>
      )}
    </section>
  )
}
