import { Fragment, type ReactNode } from 'react'

import type { ReferenceDocument } from '../../engine/openapi/procedure-description.ts'
import { Code } from '../console/code/copy.tsx'
import { Marked } from '../console/code/marked.tsx'
import { isRecord } from '../console/procedures/schema.ts'
import { quote } from '../console/procedures/snippets.ts'
import { addressOf } from './address.ts'
import { useReferenceTexts } from './texts.ts'

const JSON_TYPE = quote('content-type: application/json')

/** Returns the commands that sign in. */
const toSignIn = (origin: string) =>
  [
    `curl ${quote(`${origin}/api/auth/email-otp/send-verification-otp`)} \\`,
    `  -H ${JSON_TYPE} -d ${quote('{"email":"name@example.com","type":"sign-in"}')}`,
    `curl -c cookies.txt ${quote(`${origin}/api/auth/sign-in/email-otp`)} \\`,
    `  -H ${JSON_TYPE} -d ${quote('{"email":"name@example.com","otp":"123456"}')}`,
  ].join('\n')

/** What all procedures have in common. Leaves out what the application does not have. */
export function Introduction({ document: { info, tags, procedures } }: { document: ReferenceDocument }) {
  const { t } = useReferenceTexts()
  const origin = info.contact.url
  const has = (name: string) => procedures.some(({ operation }) => operation === name)
  const error = procedures.flatMap(({ errors }) => errors)[0]
  const list = procedures.find(({ input }) => isRecord(input?.properties) && 'cursor' in input.properties)
  return (
    <>
      <section>
        <h2>
          {info.title} <small className="muted">{info.version}</small>
        </h2>
        <p>
          <Marked text={info.description} />
        </p>
        <p>
          <a href="/api/openapi.json">{t('document')}</a>
        </p>
      </section>
      <section>
        <h3>{t('resources')}</h3>
        <dl className="facts">
          {tags.map(({ name, description }) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>
                <Marked text={description} />
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
      <Topic title={t('signInTitle')} text={t('signInText')}>
        <Code text={toSignIn(origin)} name={t('signInTitle')} language="shell" />
      </Topic>
      <Topic title={t('tokens')} text={t('tokensText')} operation={has('tokens.create') && 'tokens.create'}>
        <Code text={'authorization: Bearer $TOKEN'} name={t('token')} />
      </Topic>
      <Topic title="MCP" text={t('agentsText')}>
        <Code text={`${origin}/mcp`} name="MCP" />
      </Topic>
      {error && (
        <Topic title={t('errors')} text={t('errorsText')}>
          <Code text={JSON.stringify(error.example, null, 2)} name={t('errors')} />
        </Topic>
      )}
      {list && (
        <Topic title={t('pages')} text={t('pagesText')} operation={list.operation}>
          <Code text={`Link: <${origin}${list.path}?limit=50&cursor=…>; rel="next"`} name={t('pages')} />
        </Topic>
      )}
      <Topic title={t('retries')} text={t('retriesText')} />
      {has('live.watch') && (
        <Topic title={t('live')} text={t('liveText', { operation: 'live.watch' })} operation="live.watch" />
      )}
    </>
  )
}

interface TopicProps {
  title: string
  text: string
  /** The procedure to read next. */
  operation?: string | false
  children?: ReactNode
}

function Topic({ title, text, operation, children }: TopicProps) {
  return (
    <section>
      <h3>{title}</h3>
      <p>{text}</p>
      {children}
      {operation && (
        <p>
          <a href={addressOf(operation)}>{operation}</a>
        </p>
      )}
    </section>
  )
}
