/** A line without control and bidirectional characters: what others chose, such as the name of an app, must not steer a terminal. */
export const terminalLine = (line: string) => line.replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, '\u{fffd}')

/** JSON in which the same characters are escaped. `JSON.stringify` escapes the control characters below U+0020 only. */
export const terminalJson = (value: unknown) =>
  JSON.stringify(value, undefined, 2).replaceAll(
    /[\u007f-\u009f]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
