import { Component, type ReactNode } from 'react'

import { useLanguage } from '../language.tsx'

/** Shows a message instead of a view that fails, so that the navigation stays. */
export class Boundary extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError = () => ({ hasFailed: true })

  override render() {
    return this.state.hasFailed ? <Failure /> : this.props.children
  }
}

function Failure() {
  const { t } = useLanguage()
  return (
    <div role="alert" className="problem">
      <p>{t('loadFailed')}</p>
      <button
        onClick={() => {
          location.reload()
        }}
      >
        {t('reloadPage')}
      </button>
    </div>
  )
}
