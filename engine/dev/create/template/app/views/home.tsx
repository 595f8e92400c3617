import { createTexts, SignIn, useSession, view } from 'tallystick-dev/page'

const texts = createTexts({
  introduction: 'Sign in with your e-mail address. The first sign-in creates an account.',
  welcome: 'You are signed in. Choose a view above.',
})

export const home = view({ path: '/', title: 'home', access: 'public', texts, Content: Home })

/** The start page. */
function Home() {
  const { t } = texts.useLanguage()
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
