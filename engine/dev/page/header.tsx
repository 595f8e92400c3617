import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'

import { type Session, signOut, stopImpersonating } from './auth.ts'
import { Choice } from './components/forms/choice.tsx'
import { Confirm } from './components/confirm.tsx'
import { HomeIcon, MenuIcon, PersonIcon, SettingsIcon, SignOutIcon } from './components/icons.tsx'
import { LanguageSelect } from './components/language-select.tsx'
import { ConnectionStatus } from './components/live.tsx'
import { Brand } from './components/plain-frame.tsx'
import { useDefinition, type View } from './definition.ts'
import { hasDrafts } from './drafts.ts'
import { useAppLanguage, useLanguage } from './language.tsx'
import { restart } from './session-changes.ts'
import type { Message } from './texts.ts'
import { applyTheme, storedTheme, type Theme, themes } from './theme.ts'
import { sendChanges } from './undo.ts'

/** Number of views in the bar of narrow screens. */
const FIRST = 3

/** The header of all views: navigation, settings and sign-out. `views` are the views that the person can open. */
export function Header({ session, views }: { session: Session | null; views: readonly View[] }) {
  const { t, languageOf } = useAppLanguage()
  const { name } = useDefinition()
  const [location] = useLocation()
  const stop = useMutation({ mutationFn: stopImpersonating, onSettled: restart })
  const menu = useRef<HTMLUListElement>(null)
  const first = views.slice(0, FIRST)
  const currentOf = ({ path }: View) =>
    location === path ? 'page' : location.startsWith(`${path}/`) || undefined
  const isInMenu = views.some(currentOf) && !first.some(currentOf)
  const link = (view: View, index: number) => {
    const { path, title, texts, Icon = path === '/' ? HomeIcon : undefined } = view
    const text = languageOf(texts).t(title)
    return (
      <li key={path} className={index < FIRST ? 'in-bar' : undefined}>
        <Link href={path} aria-current={currentOf(view)}>
          {Icon ? (
            <Icon />
          ) : (
            <span className="icon initial" data-initial={String.fromCodePoint(text.codePointAt(0) ?? 0x20)} />
          )}
          {text}
        </Link>
      </li>
    )
  }

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
          <ul className="first" style={{ flexGrow: first.length }}>
            {first.map(link)}
          </ul>
          {(views.length > FIRST || session) && (
            <button className={isInMenu ? 'secondary current' : 'secondary'} popoverTarget="menu">
              <MenuIcon />
              {t('menu')}
            </button>
          )}
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
