import { SignIn, useSession } from 'tallystick/page'

import { useLanguage } from '../language.ts'
import { Counter } from './counter.tsx'

/** The start page. Without a session, explains the service and offers the sign-in. */
export function Home() {
  const session = useSession()
  const { t } = useLanguage()
  return (
    <>
      {!session && (
        <section className="introduction">
          <p>{t('introduction')}</p>
          <p>{t('introductionCallers')}</p>
          <p>{t('introductionAccess')}</p>
        </section>
      )}
      <Counter />
      {!session && <SignIn />}
    </>
  )
}
