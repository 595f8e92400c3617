import { useQuery } from '@tanstack/react-query'
import { Suspense, useEffect, useRef } from 'react'
import { Link, matchRoute, useLocation, useRouter } from 'wouter'

import { lastNavigation } from './address.ts'
import { type Session, sessionQuery } from './auth.ts'
import { Boundary } from './components/boundary.tsx'
import { Keys } from './components/keys.tsx'
import { Loaded, Loading } from './components/loaded.tsx'
import { Live } from './components/live.tsx'
import { PlainFrame } from './components/plain-frame.tsx'
import { isOpen, useHasEnded } from './components/session/session.tsx'
import { SignIn } from './components/session/sign-in.tsx'
import { Undo } from './components/undo.tsx'
import { hasParameters, useDefinition, type View } from './definition.ts'
import { Header } from './header.tsx'
import { LanguageContext, useAppLanguage, useLanguage } from './language.tsx'

/** The frame of all views: header, navigation, messages about the connection, and footer. */
export function Frame() {
  const query = useQuery(sessionQuery)
  const { views } = useDefinition()
  const session = query.data
  if (session === undefined)
    return (
      <PlainFrame>
        <Loaded query={query}>{() => null}</Loaded>
      </PlainFrame>
    )
  const open = views.filter((view) => isOpen(view, session))
  return (
    <Live userId={session?.user.id} views={open}>
      <Header session={session} views={open.filter(({ path }) => !hasParameters(path))} />
      <Content session={session} />
      <Undo />
      <Footer />
      <Keys />
    </Live>
  )
}

/** Returns the view at the address, with the values of the parameters in its path. A path without parameters has priority. */
function useView() {
  const { views } = useDefinition()
  const [location] = useLocation()
  const { parser } = useRouter()
  const found = (view: View) => matchRoute(parser, view.path.replaceAll(/\{(\w+)\}/g, ':$1'), location)
  const view = views.find(({ path }) => path === location) ?? views.find((each) => found(each)[0])
  const { ...parameters } = view && found(view)[1]
  return { view, parameters }
}

function Content({ session }: { session: Session | null }) {
  const { t, languageOf } = useAppLanguage()
  const { name } = useDefinition()
  const [location] = useLocation()
  const { view, parameters } = useView()
  const title = view && location !== '/' && languageOf(view.texts).t(view.title)
  const hasEnded = useHasEnded(session)
  const main = useRef<HTMLElement>(null)
  const lastLocation = useRef(location)
  const wasSignedOut = useRef(session === null)

  useEffect(() => {
    document.title = title ? `${title} – ${name}` : name
    // Screen readers then announce the view. The first view keeps the focus of the browser.
    if (lastLocation.current === location) return
    lastLocation.current = location
    main.current?.focus({ preventScroll: true })
    // The browser restores the position of a page to which a person goes back.
    if (lastNavigation() !== 'popstate') scrollTo(0, 0)
  }, [title, location, name])

  useEffect(() => {
    // The form of the sign-in, which had the focus, has disappeared.
    if (wasSignedOut.current && session) main.current?.focus()
    wasSignedOut.current = session === null
  }, [session])

  // The key of the view is the session, so that no state of the view outlives its session.
  const content = () => {
    if (!view)
      return (
        <p>
          <Link href="/">{t('home')}</Link>
        </p>
      )
    if (isOpen(view, session))
      return (
        <LanguageContext value={languageOf(view.texts)}>
          <view.Content key={session?.session.id} {...parameters} />
        </LanguageContext>
      )
    return session ? <p>{t('FORBIDDEN')}</p> : <SignIn />
  }
  return (
    <main id="content" ref={main} tabIndex={-1}>
      <h1 className={view?.hidesTitle && 'hidden'}>{title || (view ? name : t('notFound'))}</h1>
      {hasEnded && <p role="alert">{t('signedOutElsewhere')}</p>}
      <Boundary key={location}>
        <Suspense fallback={<Loading />}>{content()}</Suspense>
      </Boundary>
    </main>
  )
}

function Footer() {
  const { t } = useLanguage()
  return (
    <footer>
      <p>
        <a href="/docs">{t('reference')}</a>
        {' · '}
        <a href="/api/openapi.json">{t('document')}</a>
        {' · '}
        {t('forAgents', { address: `${window.location.origin}/mcp` })}
      </p>
    </footer>
  )
}
