import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { Code } from '../code/copy.tsx'
import { Marked } from '../code/marked.tsx'
import { ErrorTable } from './error-table.tsx'
import { SchemaTable, Title } from './schema-table.tsx'
import { type ProcedureMessage, useTexts } from './texts.ts'

const accessTexts = {
  public: 'anybody',
  publicTopics: 'anybodyForPublicTopics',
  signedIn: 'signedInCallers',
  administrators: 'administrators',
} satisfies Record<ProcedureDescription['access'], ProcedureMessage>

/** The units of periods by their lengths in seconds. */
const units = [
  { unit: 'day', length: 86_400 },
  { unit: 'hour', length: 3_600 },
  { unit: 'minute', length: 60 },
] as const

/** Returns a period in the words of a language: `1 hour`. */
function formatPeriod(seconds: number, language: string) {
  const { unit, length } = units.find((each) => seconds % each.length === 0) ?? { unit: 'second', length: 1 }
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(
    seconds / length,
  )
}

/** The name, the path, the description and the facts of a procedure. */
export function About({ procedure }: { procedure: ProcedureDescription }) {
  const { operation, summary, description, method, path } = procedure
  return (
    <section className="about">
      <div>
        <h2>{operation}</h2>
        <p className="route">
          <span className={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
        </p>
        <p>
          <Marked text={summary} />
        </p>
        {description && description.replace(/\.$/, '') !== summary && (
          <p className="muted">
            <Marked text={description} />
          </p>
        )}
      </div>
      <Facts procedure={procedure} />
    </section>
  )
}

/** The access, the limits and the tool of a procedure, in words. */
function Facts({ procedure }: { procedure: ProcedureDescription }) {
  const { access, scope, headers, tool } = procedure
  const { t } = useTexts()
  return (
    <dl className="facts">
      <dt>{t('access')}</dt>
      <dd>{t(accessTexts[access])}</dd>
      <dt>{t('accessTokens')}</dt>
      <dd>{scope ? t('needsScope', { scope }) : t(access === 'public' ? 'noTokenNeeded' : 'sessionOnly')}</dd>
      <dt>{t('rateLimit')}</dt>
      <dd>
        <Limit limit={procedure.rateLimit} />
      </dd>
      {headers.length > 0 && (
        <>
          <dt>{t('headers')}</dt>
          <dd>{headers.join(', ')}</dd>
        </>
      )}
      <dt>{t('agentTool')}</dt>
      <dd>{tool ? <code>{tool}</code> : t('noAgentTool')}</dd>
    </dl>
  )
}

function Limit({ limit }: { limit: ProcedureDescription['rateLimit'] }) {
  const { t, language } = useTexts()
  if (!limit) return t('none')
  const { name, points, duration, by } = limit
  const period = formatPeriod(duration, language)
  return t(by === 'account' ? 'limitByAccount' : 'limitByNetwork', { points, period, name })
}

interface ReferenceProps {
  procedure: ProcedureDescription
  /** Returns the address of a section: `input`, `output` or `errors`. Without it, headings are no links. */
  addressOf?: (section: string) => string
}

/** The errors and the schemas of a procedure. */
export function Reference({ procedure, addressOf }: ReferenceProps) {
  const { errors, input, output, isStream, example, outputExample } = procedure
  const { t } = useTexts()
  return (
    <section>
      <h3>{t('contract')}</h3>
      {input ? (
        <SchemaTable
          id="input"
          title={t('input')}
          href={addressOf?.('input')}
          schema={input}
          example={example}
        />
      ) : (
        <p className="muted">{t('noInput')}</p>
      )}
      {output ? (
        <SchemaTable
          id="output"
          title={t(isStream ? 'event' : 'output')}
          href={addressOf?.('output')}
          schema={output}
          example={outputExample}
          isExampleOpen
        />
      ) : (
        <p className="muted">{t('noOutput')}</p>
      )}
      {errors.length > 0 && <Errors errors={errors} href={addressOf?.('errors')} />}
    </section>
  )
}

function Errors({ errors, href }: Pick<ProcedureDescription, 'errors'> & { href: string | undefined }) {
  const { t } = useTexts()
  return (
    <>
      <h4 id="errors">
        <Title text={t('errors')} href={href} />
      </h4>
      <ErrorTable
        errors={errors.map(({ code, status, message, example }) => ({
          code,
          status,
          text: (
            <>
              <Marked text={message} />
              <details>
                <summary>{t('errorExample', { code })}</summary>
                <Code text={JSON.stringify(example, null, 2)} name={t('errorExample', { code })} />
              </details>
            </>
          ),
        }))}
      />
    </>
  )
}
