import { useQuery } from '@tanstack/react-query'
import { Suspense, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'

import { lastNavigation } from './address.ts'
import { type Session, sessionQuery } from './auth.ts'
import { Boundary } from './components/boundary.tsx'
import { Keys } from './components/keys.tsx'
import { Loaded, Loading } from './components/loaded.tsx'
import { Live } from './components/live.tsx'
import { Empty } from './components/rows/empty.tsx'
import { PlainFrame } from './components/plain-frame.tsx'
import { useTitleAt } from './components/rows/create-rows.ts'
import { isOpen, useHasEnded } from './components/session/session.tsx'
import { SignIn } from './components/session/sign-in.tsx'
import { Undo } from './components/undo.tsx'
import { hasParameters, useDefinition } from './definition.ts'
import { Header } from './header.tsx'
import { LanguageContext, useAppLanguage, useLanguage } from './language.tsx'
import { TitleContext } from './components/views/title.ts'
import { ParentLink } from './components/views/parent-link.tsx'
import { useFindView } from './components/views/view-at.ts'

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

function Content({ session }: { session: Session | null }) {
  const { t, languageOf } = useAppLanguage()
  const { name } = useDefinition()
  const [location] = useLocation()
  const { view, parameters } = useFindView()(location) ?? {}
  const [ownTitle, setOwnTitle] = useState<string>()
  const titleOfView = view ? location !== '/' && languageOf(view.texts).t(view.title) : t('notFound')
  const title = ownTitle ?? titleOfView
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
    if (wasSignedOut.current && session) main.current?.focus({ preventScroll: true })
    wasSignedOut.current = session === null
  }, [session])

  const heading = (
    <h1 className={view?.hidesTitle && ownTitle === undefined ? 'hidden' : undefined}>
      <bdi>{title || name}</bdi>
    </h1>
  )
  // The key of the view is the session, so that no state of the view outlives its session.
  const content = () => {
    if (!view)
      return (
        <Empty>
          {heading}
          <ParentLink />
        </Empty>
      )
    if (isOpen(view, session))
      return (
        <LanguageContext value={languageOf(view.texts)}>
          <TitleContext value={setOwnTitle}>
            <view.Content key={session?.session.id} {...parameters} />
          </TitleContext>
        </LanguageContext>
      )
    return session ? <p>{t('FORBIDDEN')}</p> : <SignIn />
  }
  return (
    <main id="content" ref={main} tabIndex={-1}>
      {view && hasParameters(view.path) && <Path location={location} />}
      {view && heading}
      {hasEnded && <p role="alert">{t('signedOutElsewhere')}</p>}
      <Boundary key={location}>
        <Suspense fallback={<Loading />}>{content()}</Suspense>
      </Boundary>
    </main>
  )
}

/** The way to a view within an item: the views and the items at the beginnings of the address. */
function Path({ location }: { location: string }) {
  const parts = location.split('/')
  return (
    <p className="path">
      {parts.slice(2).map((_, index) => (
        <PathPart key={index} href={parts.slice(0, index + 2).join('/')} />
      ))}
    </p>
  )
}

function PathPart({ href }: { href: string }) {
  const { languageOf } = useAppLanguage()
  const found = useFindView()(href)
  const text = useTitleAt(href) ?? (found && languageOf(found.view.texts).t(found.view.title))
  if (text === undefined) return null
  return found ? (
    <Link href={href}>
      <bdi>{text}</bdi>
    </Link>
  ) : (
    <bdi>{text}</bdi>
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
