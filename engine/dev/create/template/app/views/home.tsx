import { createTexts, FirstView, SignIn, useSession, view } from 'tallystick-dev/page'

const texts = createTexts({
  introduction: 'Sign in with your e-mail address. The first sign-in creates an account.',
  next: 'Next: edit app/views/home.tsx. The console, whose address the terminal shows, calls every procedure.',
})

export const home = view({ path: '/', title: 'home', access: 'public', texts, Content: Home })

/** The start page. Its title is the name of the application. */
function Home() {
  const { t } = texts.useLanguage()
  const session = useSession()
  return (
    <>
      {!session && <p>{t('introduction')}</p>}
      {import.meta.env.DEV && <p className="muted">{t('next')}</p>}
      {session ? <FirstView /> : <SignIn />}
    </>
  )
}
