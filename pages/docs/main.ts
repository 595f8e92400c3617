import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

import { accessibility } from './accessibility.ts'
import { followColorScheme } from './color-scheme.ts'
import './main.css'
import { startSignIn } from './sign-in.ts'

followColorScheme()
startSignIn()
const userInterface = SwaggerUI({
  url: '/api/openapi.json',
  dom_id: '#reference',
  layout: 'Reference',
  plugins: [accessibility],
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  // The default theme has too little contrast.
  syntaxHighlight: { theme: 'arta' },
  onComplete: showName,
})

/** Shows the name of the application, from the OpenAPI document. */
function showName() {
  const name = userInterface.specSelectors.info().get('title')
  document.title = `${name} – ${document.title}`
  const home = document.getElementById('home')
  if (home) home.textContent = name
}
