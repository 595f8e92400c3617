import { useMutation } from '@tanstack/react-query'

import { client } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { useDefinition } from '../../definition.ts'
import { useLanguage } from '../../language.tsx'

/** Makes the browser save a file. */
function saveFile(name: string, content: string) {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/json' }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

export function Export() {
  const { id } = useDefinition()
  const file = `${id}.json`
  const { t } = useLanguage()
  const run = useMutation({
    mutationFn: () => client.account.export(),
    onSuccess: (data) => {
      saveFile(file, JSON.stringify(data, undefined, 2))
    },
  })
  return (
    <section aria-labelledby="export-title" className="explained">
      <div>
        <h2 id="export-title">{t('exportTitle')}</h2>
        <p className="muted">{t('exportExplanation')}</p>
      </div>
      <div>
        <button
          className="secondary"
          aria-busy={run.isPending}
          onClick={() => {
            run.mutate()
          }}
        >
          {t('exportData')}
        </button>
        {run.isPending && <progress aria-label={t('exporting')} />}
        <p role="status" className="outcome">
          {run.isPending ? t('exporting') : run.isSuccess && t('exported', { file })}
        </p>
        <Problem error={run.error} />
      </div>
    </section>
  )
}
