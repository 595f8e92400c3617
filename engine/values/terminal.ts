/**
 * Replaces control characters and bidirectional formatting characters, because text from other users, such as the name
 * of an app, must not control the terminal.
 */
export const terminalLine = (line: string) => line.replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, '\u{fffd}')

/**
 * Returns JSON in which control characters and bidirectional formatting characters are escaped. `JSON.stringify` alone
 * escapes only the control characters below U+0020. With the indent 0, the JSON is one line.
 */
export const terminalJson = (value: unknown, indent = 2) =>
  JSON.stringify(value, undefined, indent).replaceAll(
    /[\u007f-\u009f]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
