import { SignIn, useSession } from 'tallystick-dev/page'

import { useLanguage } from '../texts.ts'

/** The start page. */
export function Home() {
  const { t } = useLanguage()
  const session = useSession()
  return (
    <>
      <section>
        <p>{t(session ? 'welcome' : 'introduction')}</p>
      </section>
      {!session && <SignIn />}
    </>
  )
}
