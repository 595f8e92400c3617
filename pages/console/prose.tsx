/** A text of a contract. Shows `code` between backticks as code. */
export const Prose = ({ text }: { text: string }) =>
  text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))
