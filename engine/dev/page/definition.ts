import { type ComponentType, createContext, useContext } from 'react'
import type { LiveStatus } from 'tallystick-contract/query'

import type { AppTexts } from './language.tsx'
import type { Message } from './texts.ts'

/** A view of the page. */
export interface View<Messages extends string = Message> {
  title: Messages
  /** Who can open the view, and sees the link to the view. */
  access: 'public' | 'signedIn' | 'admin'
  Content: ComponentType
}

interface LiveOptions {
  isSignedIn: boolean
  onStatus: (status: LiveStatus) => void
  onError: (error: unknown) => void
}

/** What the frame of the page must know of an application. `Messages` are the names of the texts of the application. */
export interface PageDefinition<Messages extends string> {
  /** The name of the application, as in `defineApp`. */
  name: string
  /** The name for files and configurations, as in `defineApp`. By default, derived from the name. */
  id?: string
  texts: AppTexts<Messages>
  /** The views by path, in the order of the navigation. The path `/` is the start page. */
  views: Readonly<Record<string, View<Message | Messages>>>
  /**
   * Keeps the queries of the page current, with `keepLive` of tallystick-contract/query. Returns the function that ends
   * the updates, or undefined if the page shows nothing that changes.
   */
  keepLive: (options: LiveOptions) => (() => void) | undefined
}

/** The definition of an application, for the components of the frame. */
type Definition = Omit<PageDefinition<string>, 'texts'> & { id: string }

export const DefinitionContext = createContext<Definition | undefined>(undefined)

export function useDefinition() {
  const definition = useContext(DefinitionContext)
  if (!definition) throw new Error('useDefinition requires a DefinitionContext')
  return definition
}
