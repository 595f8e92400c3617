import { createTexts, FirstView, ForDevelopers, SignIn, useSession, view } from 'tallystick-dev/page'

const texts = createTexts({
  introduction: 'One place for what you keep, and for what you share.',
  howToSignIn: 'Sign in with your e-mail address. The first sign-in creates an account.',
})

export const home = view({
  path: '/',
  title: 'home',
  hidesTitle: true,
  access: 'public',
  texts,
  Content: Home,
})

/** The start page: the first list of the person. Without a session, the sign-in. */
function Home() {
  const { t } = texts.useLanguage()
  const session = useSession()
  return (
    <>
      {session ? (
        <>
          <p className="claim">{t('introduction')}</p>
          <FirstView />
        </>
      ) : (
        <div className="introduction">
          <div>
            <p className="claim">{t('introduction')}</p>
            <p>{t('howToSignIn')}</p>
          </div>
          <SignIn />
        </div>
      )}
      <ForDevelopers>
        <p>
          Next: edit <code>app/views/home.tsx</code>
        </p>
      </ForDevelopers>
    </>
  )
}
