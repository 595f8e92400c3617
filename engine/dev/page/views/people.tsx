import { Link, useSearchParams } from 'wouter'

import { useLanguage } from '../language.tsx'
import { PersonList } from './people/list.tsx'
import { AuditTrail } from './people/trail.tsx'

/** The administration: all accounts, and the audit trail. The URL contains the open tab, so that a reload keeps the tab. */
export function People() {
  const { t } = useLanguage()
  const [params] = useSearchParams()
  const isTrail = params.get('tab') === 'trail'
  return (
    <>
      <nav className="tabs" aria-label={t('people')}>
        <ul>
          <li>
            <Link href="/people" aria-current={isTrail ? undefined : 'page'}>
              {t('people')}
            </Link>
          </li>
          <li>
            <Link href="/people?tab=trail" aria-current={isTrail ? 'page' : undefined}>
              {t('trail')}
            </Link>
          </li>
        </ul>
      </nav>
      {isTrail ? <AuditTrail /> : <PersonList />}
    </>
  )
}
