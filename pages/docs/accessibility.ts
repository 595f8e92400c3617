import type { Component, Plugin, Props } from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** Replaces parts of Swagger UI that do not work with a keyboard or a screen reader. */
export const accessibility: Plugin = ({ React: { createElement } }) => {
  /** Adds a label that only screen readers show: the name of a parameter, or “Example” for a list of examples. */
  const addLabel = (Original: Component) => (props: Props) =>
    createElement(
      'label',
      null,
      createElement('span', { className: 'name' }, props.description ?? 'Example'),
      createElement(Original, props),
    )
  return {
    components: {
      /** Has one `main` element. Omits the list of servers, because the page may send requests to its own origin only. */
      Reference: ({ getComponent }) =>
        createElement(
          'main',
          { className: 'swagger-ui wrapper', id: 'operations' },
          createElement(getComponent('SvgAssets'), null),
          createElement(getComponent('errors', true), null),
          createElement(getComponent('InfoContainer', true), null),
          createElement('h2', null, 'Operations'),
          createElement(getComponent('operations', true), null),
          createElement(getComponent('Models', true), null),
        ),
      /** Shows text, because a link must not be inside the button that opens the operation. */
      DeepLink: ({ text }) => createElement('span', null, text),
      /** Replaces the dialog for credentials by a note, because the page has its own sign-in. */
      authorizeOperationBtn: () => createElement('span', { className: 'requirement' }, 'needs sign-in'),
    },
    wrapComponents: {
      TextArea: (Original) => (props) => createElement(Original, { 'aria-label': 'Request body', ...props }),
      JsonSchemaForm: addLabel,
      ExamplesSelect: addLabel,
      /** Restores the role `table`. Swagger UI declares each table of responses as a region without a name. */
      responses: (Original) => (props) =>
        createElement('div', { ref: removeRegionRole }, createElement(Original, props)),
    },
  }
}

const removeRegionRole = (element: HTMLElement | null) =>
  element?.querySelector('[role=region]')?.removeAttribute('role')
