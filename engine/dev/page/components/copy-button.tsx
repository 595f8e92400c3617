import { useMutation } from '@tanstack/react-query'

interface Props {
  text: string
  /** The text of the button. */
  label: string
  /** The name for screen readers, if several buttons have the same text. Begins with `label`. */
  name?: string
  copied: string
  notCopied: string
}

/** Copies a text to the clipboard, on the page and on the console. Shows nothing without TLS, because browsers then offer no clipboard. */
export function CopyButton({ text, label, name, copied, notCopied }: Props) {
  const copy = useMutation({
    mutationFn: (written: string) => navigator.clipboard.writeText(written),
    networkMode: 'always',
  })
  if (!window.isSecureContext) return null
  // Says nothing beside another text, which the same button can have later.
  const isOfText = copy.variables === text
  return (
    <>
      <button
        type="button"
        className="secondary copy"
        aria-label={name}
        onClick={() => {
          copy.mutate(text)
        }}
      >
        {label}
      </button>
      <span role="status">{isOfText && (copy.isSuccess ? copied : copy.isError && notCopied)}</span>
    </>
  )
}
