import { useEffect, useRef, useState } from 'react'

import { useLanguage } from '../language.tsx'
import type { Message } from '../texts.ts'

/** The keys of all views. The attribute `aria-keyshortcuts` of an element tells which keys belong to the element. */
const keys: [string, Message][] = [
  ['/', 'search'],
  ['n', 'addItem'],
  ['Ctrl + Enter', 'save'],
  ['Esc', 'cancel'],
  ['Ctrl + Z', 'undo'],
  ['?', 'keys'],
]

/** Keys for the form with the focus. */
const formKeys = ['control+enter', 'meta+enter']

const STORED = 'singleKeys'
const OFF = 'off'

/** Returns the name of the pressed keys as in `aria-keyshortcuts`, in lower case. */
const nameOf = ({ ctrlKey, metaKey, key }: KeyboardEvent) =>
  [ctrlKey && 'control', metaKey && 'meta', key.toLowerCase()].filter(Boolean).join('+')

const isText = (element: Element) => element.matches('textarea, select, input:not([type=checkbox])')

/**
 * Returns the element for the pressed keys, by default in the whole page, if the person does not write. Escape is for the form with the
 * focus, or else for its row, or else for an open part of the page. A form without the focus stays open.
 */
function findElement(target: Element, name: string) {
  const selector = `[aria-keyshortcuts~="${CSS.escape(name)}" i]`
  const form = target.closest('form')
  if (formKeys.includes(name)) return form?.querySelector<HTMLElement>(selector)
  const isWritten = isText(target)
  if (name !== 'escape') return isWritten ? undefined : document.querySelector<HTMLElement>(selector)
  return [form, target.closest('li'), isWritten ? null : document]
    .flatMap((scope) => [...(scope?.querySelectorAll<HTMLElement>(selector) ?? [])])
    .find((element) => !element.closest('form') || element.closest('form') === form)
}

/** Moves the focus to a field, or presses a button. Escape leaves a field if nothing around the field can close. */
function pressKey(event: KeyboardEvent) {
  const { target } = event
  const isTaken = event.defaultPrevented || event.isComposing || event.altKey
  if (isTaken || !(target instanceof HTMLElement) || document.querySelector('dialog[open]')) return
  const name = nameOf(event)
  // The browser closes the popover.
  if (name === 'escape' && document.querySelector(':popover-open')) return
  if (name.length === 1 && localStorage.getItem(STORED) === OFF) return
  const element = findElement(target, name)
  if (!element) {
    if (name === 'escape' && isText(target)) target.blur()
    return
  }
  event.preventDefault()
  if (isText(element)) element.focus()
  else element.click()
}

/** Handles the keys of all views, and lists the keys. A person can switch off the keys that need no other key. */
export function Keys() {
  const { t } = useLanguage()
  const checkbox = useRef<HTMLInputElement>(null)
  const [areSingle, setSingle] = useState(() => localStorage.getItem(STORED) !== OFF)

  useEffect(() => {
    addEventListener('keydown', pressKey)
    return () => {
      removeEventListener('keydown', pressKey)
    }
  }, [])
  return (
    <div
      id="keys"
      popover="auto"
      role="dialog"
      aria-labelledby="keys-title"
      onToggle={({ newState }) => {
        if (newState === 'open') checkbox.current?.focus()
      }}
    >
      <h2 id="keys-title">{t('keys')}</h2>
      <dl className="keys">
        {keys.map(([key, action]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(action)}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          ref={checkbox}
          checked={areSingle}
          onChange={({ target }) => {
            setSingle(target.checked)
            localStorage.setItem(STORED, target.checked ? 'on' : OFF)
          }}
        />
        {t('singleKeys')}
      </label>
    </div>
  )
}
