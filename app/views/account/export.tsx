import { useMutation } from '@tanstack/react-query'

import { client } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { useLanguage } from '../../language.tsx'

const FILE_NAME = 'tallystick.json'

/** Makes the browser save a file. */
function saveFile(name: string, content: string) {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/json' }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

export function Export() {
  const { t } = useLanguage()
  const run = useMutation({
    mutationFn: () => client.account.export(),
    onSuccess: (data) => {
      saveFile(FILE_NAME, JSON.stringify(data, undefined, 2))
    },
  })
  return (
    <section aria-labelledby="export-title">
      <h2 id="export-title">{t('exportTitle')}</h2>
      <p>{t('exportExplanation')}</p>
      <button
        aria-busy={run.isPending}
        disabled={run.isPending}
        onClick={() => {
          run.mutate()
        }}
      >
        {t('exportData')}
      </button>
      {run.isPending && <progress aria-label={t('exporting')} />}
      <p role="status" className="outcome">
        {run.isPending ? t('exporting') : run.isSuccess && t('exported', { file: FILE_NAME })}
      </p>
      <Problem error={run.error} />
    </section>
  )
}
