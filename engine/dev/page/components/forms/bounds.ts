import type { PageLanguage } from '../../language.tsx'

/** A field of a form, and the values that the service accepts. */
export interface FieldRules {
  label: string
  type?: string | undefined
  /** Number of code points. The attribute of HTML counts the halves of an emoji, and cuts pasted text without a message. */
  maxLength?: number | undefined
  /** The smallest and the largest whole number. */
  min?: number | undefined
  max?: number | undefined
}

/** Returns the text about the values that a field accepts. Undefined without a rule. */
export function ruleOf(
  { type, maxLength, min, max }: FieldRules,
  { t, formatNumber }: Pick<PageLanguage, 't' | 'formatNumber'>,
) {
  if (type === 'email') return t('emailFormat')
  if (maxLength !== undefined) return t('tooLong', { max: maxLength })
  if (min === undefined || max === undefined) return undefined
  return t('outOfRange', { min: formatNumber(min), max: formatNumber(max) })
}

/** Returns whether a value breaks a bound. The browser checks e-mail addresses, and requires a value. */
export function breaksBound(
  { maxLength = Infinity, min = -Infinity, max = Infinity, type }: FieldRules,
  value: string,
) {
  if (type !== 'number') return value.length > maxLength && Array.from(value).length > maxLength
  const number = Number(value)
  return value !== '' && !(Number.isInteger(number) && number >= min && number <= max)
}
