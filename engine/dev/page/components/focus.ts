import { useLayoutEffect, useRef } from 'react'

/**
 * Keeps the focus in a list: if the item with the focus leaves the list, the same control of the next item receives the
 * focus. Without another item, the element with the id `fallback` does.
 */
export function useFocusOfList(fallback = 'content') {
  const ref = useRef<HTMLLIElement>(null)
  useLayoutEffect(() => {
    const item = ref.current
    return () => {
      if (!item?.contains(document.activeElement)) return
      const index = controlsOf(item).findIndex((control) => control === document.activeElement)
      const items = [...(item.parentElement?.children ?? [])]
      const place = items.indexOf(item)
      const others = [...items.slice(place + 1), ...items.slice(0, place).reverse()]
      // After the item has left the document: as long as it is open, it can hide the other items.
      queueMicrotask(() => {
        const controls = controlsOf(others.find(({ isConnected }) => isConnected))
        const next = controls[index] ?? controls.at(-1) ?? document.getElementById(fallback)
        next?.focus()
      })
    }
  }, [fallback])
  return ref
}

const controlsOf = (item: Element | null | undefined) => [
  ...(item?.querySelectorAll<HTMLElement>('input, select, textarea, button') ?? []),
]

/** Moves the focus to the first control of an item, or to the view if the view does not show the item. */
export function focusFirstControl(id = '') {
  const target = controlsOf(document.getElementById(id))[0] ?? document.getElementById('content')
  target?.focus()
}

/**
 * Lets buttons with `aria-busy` do nothing, also as the default button of a form. A disabled button would lose the focus while its
 * request is pending.
 */
export function ignoreBusyButtons() {
  const ignore = (event: MouseEvent) => {
    if (!(event.target instanceof Element) || !event.target.closest('button[aria-busy=true]')) return
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('click', ignore, { capture: true })
}
