import { useTexts } from '../procedures/texts.ts'

/** A text of the contract, which is English. Parts in backticks are code. */
export function Marked({ text }: { text: string }) {
  const { language } = useTexts()
  const parts = text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))
  return language === 'en' ? parts : <bdi lang="en">{parts}</bdi>
}
