import type { ReactNode } from 'react'

import type { ProcedureDescription, ReferenceDocument } from '../../engine/openapi/procedure-description.ts'
import { Code } from '../console/code/copy.tsx'
import { Marked } from '../console/code/marked.tsx'
import { ErrorTable } from '../console/procedures/error-table.tsx'
import { isRecord } from '../console/procedures/schema.ts'
import { quote, toCurl } from '../console/procedures/snippets.ts'
import { addressOf, type Section } from './address.ts'
import { sampleOf } from './sample.ts'
import { useReferenceTexts } from './texts.ts'

const JSON_TYPE = quote('content-type: application/json')

/** Returns the commands that sign in. */
const toSignIn = (origin: string) =>
  [
    `curl ${quote(`${origin}/api/auth/email-otp/send-verification-otp`)} \\`,
    `  -H ${JSON_TYPE} \\`,
    `  -d ${quote('{"email":"name@example.com","type":"sign-in"}')}`,
    `curl -c cookies.txt ${quote(`${origin}/api/auth/sign-in/email-otp`)} \\`,
    `  -H ${JSON_TYPE} \\`,
    `  -d ${quote('{"email":"name@example.com","otp":"123456"}')}`,
  ].join('\n')

/** A call without a credential, an input and headers. */
const PLAIN = { isSignedIn: false, input: undefined, headers: {} }

/** Returns a procedure that anybody can call without an input: of the application, or else of the engine. */
const findFirstCall = (procedures: readonly ProcedureDescription[]) =>
  procedures.find(
    ({ access, method, isStream, input, mediaType }) =>
      access === 'public' && method === 'GET' && !isStream && !input?.required && mediaType === null,
  )

/** What all procedures have in common. Leaves out what the application does not have. */
export function Introduction({ document: { info, tags, procedures } }: { document: ReferenceDocument }) {
  const { t } = useReferenceTexts()
  const origin = info.contact.url
  const find = (name: string) => procedures.find(({ operation }) => operation === name)
  const error = procedures.flatMap(({ errors }) => errors).find(({ isDefined }) => isDefined)
  const list = procedures.find(({ input }) => isRecord(input?.properties) && 'cursor' in input.properties)
  const live = find('live.watch')
  const first = findFirstCall(procedures)
  return (
    <>
      <section>
        <h2>
          {info.title} <small className="muted">{info.version}</small>
        </h2>
        <p>
          <Marked text={info.description} />
        </p>
      </section>
      {first && (
        <Topic id="first-call" title={t('firstCall')} text={t('firstCallText')} operation={first.operation}>
          <Code
            text={toCurl({ ...PLAIN, origin, procedure: first })}
            name={t('firstCall')}
            language="shell"
          />
        </Topic>
      )}
      <Topic id="resources" title={t('resources')}>
        <Resources tags={tags} procedures={procedures} />
      </Topic>
      <Topic id="sign-in" title={t('signInTitle')} text={t('signInText')}>
        <Code text={toSignIn(origin)} name={t('signInTitle')} language="shell" />
      </Topic>
      <Topic
        id="tokens"
        title={t('tokens')}
        text={t('tokensText')}
        operation={find('tokens.create')?.operation}
      >
        <Code text={'authorization: Bearer $TOKEN'} name={t('token')} />
      </Topic>
      <Topic id="mcp" title="MCP" text={t('agentsText')}>
        <Code text={`${origin}/mcp`} name="MCP" />
      </Topic>
      {error && (
        <Topic id="errors" title={t('errors')} text={t('errorsText')}>
          <Code text={JSON.stringify(error.example, null, 2)} name={t('errors')} />
          <ErrorTable
            errors={[
              { code: 'BAD_REQUEST', status: 400, text: t('brokenInput') },
              ...findCommonErrors(procedures),
            ]}
          />
        </Topic>
      )}
      {list && (
        <Topic id="pages" title={t('pages')} text={t('pagesText')} operation={list.operation}>
          <Code text={`Link: <${origin}${list.path}?limit=50&cursor=…>; rel="next"`} name={t('pages')} />
        </Topic>
      )}
      <Topic id="retries" title={t('retries')} text={t('retriesText')} />
      {live && (
        <Topic
          id="live-updates"
          title={t('live')}
          text={t('liveText', { operation: live.operation })}
          operation={live.operation}
        >
          <Code text={`id: …\ndata: ${JSON.stringify(sampleOf(live.output))}`} name={t('event')} />
        </Topic>
      )}
    </>
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

interface TopicProps {
  id: Section
  title: string
  text?: string
  /** The procedure to read next. */
  operation?: string | undefined
  children?: ReactNode
}

function Topic({ id, title, text, operation, children }: TopicProps) {
  return (
    <section id={id}>
      <h3>
        <a href={`#${id}`}>{title}</a>
      </h3>
      {text && <p>{text}</p>}
      {children}
      {operation && (
        <p>
          <a href={addressOf(operation)}>{operation}</a>
        </p>
      )}
    </section>
  )
}
