/** The most characters of a text with colors. Longer texts have one color, because each value is an element of the page. */
const MAX_LENGTH = 20_000

/** Strings, numbers and literals of JSON. */
const VALUE = /("(?:\\.|[^"\\])*"|-?\b\d[\d.eE+-]*|\b(?:true|false|null)\b)/

function isJson(text: string) {
  if (!/^[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns the class of a value. `next` is the text after the value. */
function classOf(value: string, next = '') {
  if (!value.startsWith('"')) return 'literal'
  return /^\s*:/.test(next) ? 'key' : 'string'
}

/** Returns a text with colors for the values of JSON. Returns other texts unchanged. */
export function colorJson(text: string) {
  if (text.length > MAX_LENGTH || !isJson(text)) return text
  return text.split(VALUE).map((part, index, parts) =>
    index % 2 === 0 ? (
      part
    ) : (
      <span key={index} className={classOf(part, parts[index + 1])}>
        {part}
      </span>
    ),
  )
}
