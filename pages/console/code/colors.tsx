/** The most characters of a text with colors. Longer texts have one color, because each value is an element of the page. */
const MAX_LENGTH = 20_000

/** The parts of each language that have a color. The name of a group is the class of its part. `plain` has no color. */
const languages = {
  json: /(?<key>"(?:\\.|[^"\\])*")(?=\s*:)|(?<string>"(?:\\.|[^"\\])*")|(?<literal>-?\b\d[\d.eE+-]*|\b(?:true|false|null)\b)/g,
  sql: /(?<comment>--.*)|(?<string>'(?:''|[^'])*')|(?<plain>"(?:""|[^"])*")|(?<literal>\$\d+|\b\d+(?:\.\d+)?\b|\b(?:true|false|null)\b)|(?<keyword>\b(?:select|insert|into|update|delete|merge|from|where|and|or|not|in|is|returning|values|set|join|left|right|full|inner|cross|lateral|on|using|as|order|group|by|having|limit|offset|with|recursive|case|when|then|else|end|exists|distinct|union|all|any|conflict|do|nothing|for|share|asc|desc|nulls|first|last|between|like|ilike|over|partition)\b)/gi,
  shell: /(?<string>'[^']*'|"(?:\\.|[^"\\])*")|(?<literal>(?<=\s)--?[\w-]+)|(?<keyword>^(?:curl|npx)\b)/g,
  typescript:
    /(?<comment>\/\/.*)|(?<string>'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)|(?<literal>\b(?:true|false|null|undefined|\d[\d._]*)\b)|(?<keyword>\b(?:import|from|const|for|await|of|if|else|type|new)\b)/g,
} satisfies Record<string, RegExp>
export type Language = keyof typeof languages

function isJson(text: string) {
  if (!/^[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns a text with colors. Without a language, only JSON has colors. */
export function colored(text: string, language?: Language) {
  const pattern = language ? languages[language] : isJson(text) ? languages.json : undefined
  if (!pattern || text.length > MAX_LENGTH) return text
  let end = 0
  const parts = [...text.matchAll(pattern)].flatMap((match) => {
    const { index, groups = {} } = match
    const [name] = Object.entries(groups).find(([, part]) => part) ?? []
    const before = text.slice(end, index)
    end = index + match[0].length
    return [
      before,
      <span key={index} className={name}>
        {match[0]}
      </span>,
    ]
  })
  return [...parts, text.slice(end)]
}
