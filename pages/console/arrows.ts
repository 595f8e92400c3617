import type { KeyboardEvent } from 'react'

/** Returns the step of an arrow in a list: 1 for down, and -1 for up. Undefined for other keys. */
export const stepOf = ({ key }: KeyboardEvent): number | undefined => ({ ArrowDown: 1, ArrowUp: -1 })[key]

/** Returns the handler of arrow keys in a list: they move the focus between the elements that the selector finds. */
export const moveBetween = (selector: string) => (event: KeyboardEvent<HTMLElement>) => {
  const step = stepOf(event)
  if (step === undefined) return
  const elements = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)]
  const index = elements.findIndex((element) => element === document.activeElement)
  const next = elements[index === -1 ? 0 : index + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
