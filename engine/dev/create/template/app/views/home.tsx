import { createTexts, FirstView, ForDevelopers, SignIn, useSession, view } from 'tallystick-dev/page'

const texts = createTexts({
  introduction: 'One place for what you keep, and for what you share.',
  howToSignIn: 'Sign in with your e-mail address. The first sign-in creates an account.',
})

export const home = view({ path: '/', title: 'home', access: 'public', texts, Content: Home })

/** The start page. Its title is the name of the application. */
function Home() {
  const { t } = texts.useLanguage()
  const session = useSession()
  return (
    <>
      <p>{t('introduction')}</p>
      <ForDevelopers>
        <p>
          Next: edit <code>app/views/home.tsx</code>
        </p>
      </ForDevelopers>
      {session ? (
        <FirstView />
      ) : (
        <>
          <p>{t('howToSignIn')}</p>
          <SignIn />
        </>
      )}
    </>
  )
}
