import js from '@eslint/js'
import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

export default defineConfig(
  {
    ignores: [
      '**/dist',
      'coverage',
      // Tests of the help desk in docs/, whose types a nightly test checks.
      'docs',
      'test/agents/clients',
      'test/generated/{clients,.output}',
      '**/*.js',
      '**/*.cjs',
    ],
  },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  { languageOptions: { parserOptions: { projectService: true } } },
  {
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // Permits destructuring of oRPC's functions, which is the usual way to use them.
      '@typescript-eslint/unbound-method': 'off',
      // A regular expression in engine/contract/schemas.ts matches the control character NUL.
      'no-control-regex': 'off',
    },
  },
  {
    files: ['test/**', 'engine/test/**'],
    rules: {
      // Matchers such as `expect.any` have the type `any`, because a matcher can replace a value of any type.
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
)
