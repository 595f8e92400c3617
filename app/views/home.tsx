import { Loading, SignIn, useSession } from 'tallystick-dev/page'

import { useLanguage } from '../language.ts'
import { Counter } from './counter.tsx'
import { Developers } from './home/developers.tsx'
import { Overview, useIsLoading } from './home/overview.tsx'

/** The start page: an overview for the person. Without a session, an explanation of the service, and the sign-in. */
export function Home() {
  const session = useSession()
  const { t } = useLanguage()
  if (session) return <Cards />
  return (
    <>
      <div className="introduction">
        <div>
          <p className="claim">{t('introduction')}</p>
          <p>{t('introductionCallers')}</p>
          <p>{t('introductionAccess')}</p>
        </div>
        <SignIn />
      </div>
      <div className="cards">
        <Counter />
        <Developers />
      </div>
    </>
  )
}

function Cards() {
  if (useIsLoading())
    return (
      <div className="cards">
        <section>
          <Loading lines={12} />
        </section>
      </div>
    )
  return (
    <div className="cards">
      <Overview />
      <Counter />
    </div>
  )
}
