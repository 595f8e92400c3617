import { Copy } from 'tallystick-dev/page'

import { useLanguage } from '../../language.ts'

/** The ways to call the service: each a sample to copy. */
export function Developers() {
  const { t } = useLanguage()
  const { origin } = location
  const samples = [
    [
      'TypeScript',
      `import { createClient } from 'tallystick-client'\n\nconst client = createClient('${origin}')\nawait client.counter.increment()`,
    ],
    ['REST', `curl -X POST ${origin}/api/counter/increment`],
    [t('agents'), `claude mcp add --transport http tallystick ${origin}/mcp`],
    [t('commandLine'), `npx --no-install tallystick --at ${origin} call counter.get`],
  ] as const
  return (
    <section aria-labelledby="developers-title">
      <h2 id="developers-title">{t('developers')}</h2>
      {samples.map(([name, text]) => (
        <div key={name} className="sample">
          <h3>{name}</h3>
          <Copy label={t('copy')} text={text} />
          <pre className="text" dir="ltr">
            <code>{text}</code>
          </pre>
        </div>
      ))}
    </section>
  )
}
