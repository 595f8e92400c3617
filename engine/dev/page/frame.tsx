import { useMutation, useQuery } from '@tanstack/react-query'
import { Suspense, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'

import { type Session, sessionQuery, signOut, stopImpersonating } from './auth.ts'
import { Boundary } from './components/boundary.tsx'
import { Choice } from './components/forms/choice.tsx'
import { Confirm } from './components/confirm.tsx'
import { DocumentIcon, MenuIcon, PersonIcon, SettingsIcon, SignOutIcon } from './components/icons.tsx'
import { Keys } from './components/keys.tsx'
import { Loaded, Loading } from './components/loaded.tsx'
import { LanguageSelect } from './components/language-select.tsx'
import { ConnectionStatus, Live } from './components/live.tsx'
import { Brand, PlainFrame } from './components/plain-frame.tsx'
import { lastNavigation } from './navigation.ts'
import { isOpen, useHasEnded } from './components/session/session.tsx'
import { SignIn } from './components/session/sign-in.tsx'
import { Undo } from './components/undo.tsx'
import { useDefinition, type View } from './definition.ts'
import { hasDrafts } from './drafts.ts'
import { LanguageContext, useAppLanguage, useLanguage } from './language.tsx'
import { restart } from './session-changes.ts'
import type { Message } from './texts.ts'
import { applyTheme, storedTheme, type Theme, themes } from './theme.ts'
import { sendChanges } from './undo.ts'

/** Number of views in the bar of narrow screens. */
const FIRST = 3

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
      <Header session={session} views={open} />
      <Content session={session} />
      <Undo />
      <Footer />
      <Keys />
    </Live>
  )
}

/** `views` are the views that the person can open. */
function Header({ session, views }: { session: Session | null; views: readonly View[] }) {
  const { t, languageOf } = useAppLanguage()
  const { name } = useDefinition()
  const [location] = useLocation()
  const stop = useMutation({ mutationFn: stopImpersonating, onSettled: restart })
  const menu = useRef<HTMLUListElement>(null)
  const link = ({ path, title, texts, Icon = DocumentIcon }: View) => (
    <li key={path}>
      <Link href={path} aria-current={location === path ? 'page' : undefined}>
        <Icon />
        {languageOf(texts).t(title)}
      </Link>
    </li>
  )

  useEffect(() => {
    menu.current?.hidePopover()
  }, [location])

  return (
    <header>
      <a className="skip" href="#content">
        {t('skipToContent')}
      </a>
      <div className="bar">
        <Brand />
        <nav aria-label={t('mainNavigation')}>
          {/* Below 700 pixels, the bar at the end of the window has the first views, and a button for all views. */}
          <ul className="first">{views.slice(0, FIRST).map(link)}</ul>
          <button className="secondary" popoverTarget="menu">
            <MenuIcon />
            {t('menu')}
          </button>
          <ul id="menu" ref={menu} popover="auto">
            {views.map(link)}
            {session && (
              <li>
                <SignOut />
              </li>
            )}
          </ul>
        </nav>
        <Settings session={session} />
        {session && <SignOut />}
      </div>
      {session?.session.impersonatedBy && (
        <div role="alert" className="impersonation">
          <p>{t('impersonation', { app: name, email: session.user.email })}</p>
          <button
            onClick={() => {
              stop.mutate()
            }}
          >
            {t('stopImpersonation')}
          </button>
        </div>
      )}
      <ConnectionStatus />
    </header>
  )
}

/** The menu with the person, the language and the theme. */
function Settings({ session }: { session: Session | null }) {
  const { t, language, choose } = useLanguage()
  const [theme, setTheme] = useState(storedTheme)
  const person = session && (session.user.name || session.user.email)
  return (
    <div className="settings">
      <button className="secondary" popoverTarget="settings">
        {person ? <PersonIcon /> : <SettingsIcon />}
        <span className={person ? 'name' : 'hidden'}>
          <bdi>{person ?? t('settings')}</bdi>
        </span>
      </button>
      <div id="settings" popover="auto">
        {session?.user.name && (
          <p>
            <strong>
              <bdi>{session.user.name}</bdi>
            </strong>
            <br />
            <bdi className="muted">{session.user.email}</bdi>
          </p>
        )}
        <LanguageSelect label={t('language')} language={language} onLanguage={choose} />
        <Choice
          label={t('theme')}
          value={theme}
          options={themes.map((option) => [option, t(themeTitles[option])])}
          onChoice={(next) => {
            setTheme(next)
            applyTheme(next)
          }}
        />
        <button className="secondary" popoverTarget="keys" aria-keyshortcuts="?">
          {t('keys')}
        </button>
      </div>
    </div>
  )
}

const themeTitles: Record<Theme, Message> = { auto: 'themeAuto', light: 'themeLight', dark: 'themeDark' }

/** Signs out. Asks before if the person would lose text. */
function SignOut() {
  const { t } = useLanguage()
  const leave = useMutation({
    mutationFn: async () => {
      await sendChanges()
      await signOut()
    },
    onSuccess: restart,
  })
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <button
        className="secondary"
        onClick={() => {
          if (hasDrafts()) setAsking(true)
          else leave.mutate()
        }}
      >
        <SignOutIcon />
        <span className="label">{t('signOut')}</span>
      </button>
      {isAsking && (
        <Confirm
          title={t('signOut')}
          action={t('discardText')}
          isPending={leave.isPending}
          error={leave.error}
          onConfirm={() => {
            leave.mutate()
          }}
          onClose={() => {
            setAsking(false)
          }}
        >
          <p>{t('unsavedText')}</p>
        </Confirm>
      )}
    </>
  )
}

function Content({ session }: { session: Session | null }) {
  const { t, languageOf } = useAppLanguage()
  const { name, views } = useDefinition()
  const [location] = useLocation()
  const view = views.find(({ path }) => path === location)
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
          <view.Content key={session?.session.id} />
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
