import { type Language, languages } from 'tallystick-contract/internal'

/** The name of each language in this language. */
const names = languages.map((language) => ({
  language,
  name: new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language,
}))

interface Props {
  label: string
  language: Language
  onLanguage: (language: Language) => void
}

/** A labelled list of all languages. */
export function LanguageSelect({ label, language, onLanguage }: Props) {
  return (
    <label>
      {label}
      <select
        value={language}
        onChange={({ target }) => {
          onLanguage(target.value as Language)
        }}
      >
        {names.map(({ language: tag, name }) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
