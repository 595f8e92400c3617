/**
 * Replaces control characters and bidirectional formatting characters, because text from other users, such as the name
 * of an app, must not control the terminal.
 */
export const terminalLine = (line: string) => line.replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, '\u{fffd}')

/**
 * Returns JSON in which control characters and bidirectional formatting characters are escaped. `JSON.stringify` alone
 * escapes only the control characters below U+0020.
 */
export const terminalJson = (value: unknown) =>
  JSON.stringify(value, undefined, 2).replaceAll(
    /[\u007f-\u009f]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
