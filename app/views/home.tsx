import { lazy } from 'react'
import { ForDevelopers, Loading, SignIn, useSession, useTitle } from 'tallystick-dev/page'

import { useLanguage } from '../language.ts'
import { Counter } from './counter.tsx'
import { OpenTasks, RecentDevices, SharedNotes, useIsLoading } from './home/overview.tsx'

// Loaded only in development.
const Developers = lazy(async () => ({ default: (await import('./home/developers.tsx')).Developers }))

/** The start page: an overview for the person. Without a session, an explanation of the service, and the sign-in. In
 * development, also the ways to call the service. */
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
        <ForDevelopers>
          <Developers />
        </ForDevelopers>
      </div>
    </>
  )
}

function Cards() {
  const { t } = useLanguage()
  useTitle(t('home'))
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
      <div className="column">
        <OpenTasks />
        <SharedNotes />
      </div>
      <div className="column">
        <Counter />
        <RecentDevices />
      </div>
      <ForDevelopers>
        <Developers />
      </ForDevelopers>
    </div>
  )
}
