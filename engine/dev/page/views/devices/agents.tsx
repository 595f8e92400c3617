import { Copy } from '../../components/copy.tsx'
import { useDefinition } from '../../definition.ts'
import { useLanguage } from '../../language.tsx'

/** How to connect an AI agent. */
export function AgentInstructions() {
  const { t } = useLanguage()
  const { id } = useDefinition()
  const url = `${location.origin}/mcp`
  const configuration = JSON.stringify({ mcpServers: { [id]: { type: 'http', url } } }, undefined, 2)
  return (
    <section aria-labelledby="agents-title">
      <h2 id="agents-title">{t('agentsTitle')}</h2>
      <p>{t('agentsExplanation')}</p>
      <p>
        <code className="text">{url}</code>
      </p>
      <Copy label={t('copyAddress')} text={url} />
      <h3>{t('agentConfiguration')}</h3>
      <pre className="text" dir="ltr">
        <code>{configuration}</code>
      </pre>
      <Copy label={t('copyConfiguration')} text={configuration} />
    </section>
  )
}
