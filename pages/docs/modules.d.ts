/** esbuild writes the imported styles to `main.css`. */
declare module '*.css'

/** The part of Swagger UI that the page uses. The package has no types for its ES module. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Options {
    url: string
    dom_id: string
    layout: string
    plugins: Plugin[]
    deepLinking: boolean
    defaultModelsExpandDepth: number
    syntaxHighlight: { theme: string }
    /** Runs after the document is shown. */
    onComplete: () => void
  }
  interface UserInterface {
    specSelectors: { info: () => { get: (name: 'title') => string } }
  }
  export type Plugin = (system: System) => {
    components: Record<string, Component>
    wrapComponents: Record<string, (original: Component) => Component>
  }
  interface System {
    React: {
      createElement: (type: string | Component, props: object | null, ...children: unknown[]) => Element
    }
  }
  export type Component = (props: Props) => Element
  export interface Props {
    getComponent: (name: string, isContainer?: boolean) => Component
    /** Children of React. */
    text?: unknown
    description?: string
  }
  /** An element of React. */
  interface Element {
    type: unknown
  }
  export default function SwaggerUI(options: Options): UserInterface
}
