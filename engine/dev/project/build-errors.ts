import { resolve } from 'node:path'
import type { Message } from 'esbuild'
import type { ViteDevServer } from 'vite'

/** An error of the build of the service, as the console (engine/console/build-errors.ts) and the page show the error. */
export interface BuildError {
  message: string
  /** Lines and columns are from 1. */
  position: { file: string; line: number; column: number } | null
  /** The line of the source. */
  text: string
}

export type ShowBuildErrors = (errors: readonly BuildError[]) => void

export const describeBuildError = ({ text, location }: Message): BuildError => ({
  message: text,
  position: location && { file: resolve(location.file), line: location.line, column: location.column + 1 },
  text: location?.lineText ?? '',
})

/**
 * Returns the function that shows build errors of the service over the page, as Vite shows the errors of the page. Without errors,
 * removes the errors from the page.
 */
export function createErrorOverlay({ ws }: Pick<ViteDevServer, 'ws'>): ShowBuildErrors {
  let shown: BuildError | undefined
  const show = () => {
    if (!shown) return
    const { message, position, text } = shown
    const loc = position ?? undefined
    ws.send({
      type: 'error',
      err: { message, stack: '', frame: text, plugin: 'the build of the service', id: loc?.file, loc },
    })
  }
  // For a page that opens later.
  ws.on('connection', show)
  return ([first]) => {
    // An update removes the errors of earlier updates.
    if (shown && !first) ws.send({ type: 'update', updates: [] })
    shown = first
    show()
  }
}
