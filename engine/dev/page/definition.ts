import { type ComponentType, createContext, useContext } from 'react'
import type { LiveStatus } from 'tallystick-contract/query'

import { requireContext } from './context.ts'
import type { AppTexts } from './language.tsx'
import type { Message } from './texts.ts'

/** The parameters in a path, as properties of the content: `{ id: string }` for `/tickets/{id}`. */
type Parameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & Parameters<Rest>
  : object

interface ViewOptions<Texts extends string, Topic extends string, Path extends string> {
  /**
   * The path of the view, as a text literal: the build reads the paths from the sources. `/` is the start page. A view with
   * parameters, such as `/tickets/{id}`, has no link in the navigation, and its content receives the values.
   */
  path: Path
  /** The name of the text in the navigation and in the title of the window. */
  title: Message | NoInfer<Texts>
  /** The icon of the link on narrow screens. By default, a house for `/`, and else the first letter of the title. */
  Icon?: ComponentType
  /** Shows the title only to screen readers, because the view has headings of its own. `useTitle` shows a title of its own. */
  hidesTitle?: true
  /** Who can open the view, and sees the link to the view. */
  access: 'public' | 'signedIn' | 'admin'
  /** The topics of `live.watch` that keep the queries of the view current. */
  topics?: readonly Topic[]
  /** The texts of the view. A text with the name of a text of every page replaces that text in the view. */
  texts?: AppTexts<Texts>
  Content: ComponentType<Parameters<Path>>
}

/** A view of the page, from `view`. */
export interface View<Topic extends string = string> extends Omit<
  ViewOptions<never, Topic, string>,
  'title' | 'Content'
> {
  title: string
  /** Receives the values of the parameters in the path. */
  Content: ComponentType
}

/**
 * Declares a view of the page: its path, its title, who can open the view, its texts, and the topics that keep its queries
 * current.
 *
 * @example
 * export const ideas = view({ path: '/ideas', title: 'ideas', access: 'signedIn', topics: ['ideas'], texts, Content: Ideas })
 * export const idea = view({ path: '/ideas/{id}', title: 'idea', access: 'signedIn', texts, Content: ({ id }) => <Idea id={Number(id)} /> })
 */
export const view = <
  const Path extends `/${string}`,
  Texts extends string = never,
  const Topic extends string = never,
>({
  Content,
  ...options
}: ViewOptions<Texts, Topic, Path>): View<Topic> => ({
  ...options,
  // The frame passes the parameters of the path.
  Content: Content as ComponentType,
})

/** Returns whether a path has parameters. */
export const hasParameters = (path: string) => path.includes('{')

type TopicOf<Views extends readonly View[]> = NonNullable<Views[number]['topics']>[number]

interface LiveOptions<Topic extends string> {
  /** The topics of the views that the person can open. */
  topics: Topic[]
  onStatus: (status: LiveStatus) => void
  onError: (error: unknown) => void
}

/** What the frame of the page must know of an application. */
export interface PageDefinition<Views extends readonly View[] = readonly View[]> {
  /** The name of the application, as in `defineApp`. */
  name: string
  /** The name for files and configurations, as in `defineApp`. By default, derived from the name. */
  id?: string
  /** The views in the order of the navigation. */
  views: Views
  /** Whether people who share items see each other's names: the view of the account then says so (`names` of `shared`). */
  membersSeeNames?: boolean
  /** Texts that replace texts of every page in the frame and in the views of the account. */
  texts?: AppTexts<never>
  /**
   * Keeps the queries of the page current, with `keepLive` of tallystick-contract/query. Returns the function that ends
   * the updates. Called only if the person can open a view with topics.
   */
  keepLive?: (options: LiveOptions<TopicOf<Views>>) => () => void
}

/** The definition of an application, for the components of the frame. */
type Definition = PageDefinition & { id: string }

export const DefinitionContext = createContext<Definition | undefined>(undefined)

export const useDefinition = () => requireContext(useContext(DefinitionContext))
