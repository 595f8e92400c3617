/** A place in a source. Lines and columns are from 1. */
export interface Position {
  file: string
  line: number
  column: number
}

/** A frame with a file. A frame of Node itself has `node:` instead of a path. */
const FRAME = /^\s+at (?:.*\()?(?:async )?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^()]*?):(\d+):(\d+)\)?$/

/** Returns the place of the first frame of one's own code. Undefined if all frames are of packages and of Node. */
export function findPosition(stack: string): Position | undefined {
  for (const frame of stack.split('\n')) {
    const [, file = '', line, column] = FRAME.exec(frame) ?? []
    if (file && !/[\\/]node_modules[\\/]/.test(file))
      return { file, line: Number(line), column: Number(column) }
  }
  return undefined
}
