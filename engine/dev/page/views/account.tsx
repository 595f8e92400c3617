import { useSession } from '../components/session/session.tsx'
import { useLanguage } from '../language.tsx'
import { Connections } from './account/connections.tsx'
import { DeleteAccount } from './account/delete.tsx'
import { Export } from './account/export.tsx'
import { Profile } from './account/profile.tsx'

export function Account() {
  const { t } = useLanguage()
  const session = useSession()
  return (
    <>
      <Profile />
      {session?.session.impersonatedBy ? (
        <section>
          <p>{t('ownersOnly')}</p>
        </section>
      ) : (
        <>
          <Connections />
          <Export />
          <DeleteAccount />
        </>
      )}
    </>
  )
}
