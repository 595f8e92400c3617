import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

import { accessibility } from './accessibility.ts'
import { followColorScheme } from './color-scheme.ts'
import './main.css'
import { startSignIn } from './sign-in.ts'

followColorScheme()
startSignIn()
SwaggerUI({
  url: '/api/openapi.json',
  dom_id: '#reference',
  layout: 'Reference',
  plugins: [accessibility],
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  // The default theme has too little contrast.
  syntaxHighlight: { theme: 'arta' },
})
