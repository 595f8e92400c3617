/** Quotes a word for a shell if the word has other characters than letters, digits and those of common paths. */
export function quoteWord(word: string, platform: NodeJS.Platform = process.platform) {
  // A program would read a leading `-` as an option.
  const path = word.startsWith('-') ? `./${word}` : word
  if (/^[\w./:@+-]+$/.test(path)) return path
  return platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
